// Which of our own files may import which, each with the reason. scripts/lint/imports.ts checks it.
import type { IForbiddenRuleType } from 'dependency-cruiser'

/** Of our packages, each imports only these, and of `tls` the relay only the codecs. */
const PACKAGES: readonly [folder: string, imports: readonly string[], reason: string][] = [
  ...['protocol', 'yamux', 'tls', 'payment', 'node-kit'].map((folder): [string, string[], string] => [
    folder,
    [],
    'It imports none of ours, so that it can be read, tested and published alone.',
  ]),
  ['dns', ['node-kit'], 'A name server knows no relay, and answers for any zone.'],
  [
    'relay',
    ['protocol', 'yamux', 'payment', 'node-kit', 'dns', 'tls/src/messages', 'tls/src/der'],
    'The TLS engine holds tenant secrets, and a relay must never: it imports the codecs alone. It imports no SDK.',
  ],
  [
    'sdk-core',
    ['protocol', 'yamux', 'tls', 'payment'],
    'It knows neither the relay nor the SDK that uses it.',
  ],
  ['sdk-browser', ['sdk-core'], 'An SDK never imports the relay, and a page nothing of Node.'],
  [
    'sdk-node',
    ['protocol', 'yamux', 'tls', 'payment', 'node-kit', 'dns/src/(client|exec|providers)', 'sdk-core'],
    'An SDK never imports the relay, and Node nothing of the browser.',
  ],
  [
    'relay/web',
    ['protocol', 'sdk-browser', 'sdk-core/src/inspector'],
    "The relay's pages are its client like any other page.",
  ],
  [
    'sdk-node/web',
    ['relay/web', 'sdk-node/src/agent/api-messages.ts', 'sdk-node/src/inspector/api-messages.ts'],
    "The agent's page is made of parts of the relay's pages, and asks the agent alone.",
  ],
]

/** What features use of each other beside `index.ts`. */
const SHARED_BY_FEATURES = [
  'acme/(authority|order-sharing)',
  'dns/(provider|provider-backoff|public-address/public-address-watcher)',
  'ports/port-allocator',
  'static-cache/snapshot-sharing',
].map((file) => `^relay/src/features/${file}\\.ts$`)

const ANY_PACKAGE = '^(relay/web|sdk-node/web|[^/]+)/src/'

export const RULES: readonly (IForbiddenRuleType & { name: string })[] = [
  {
    name: 'no-cycle',
    comment:
      'Files that import each other can only be read together. A type in a file of its own ends most cycles.',
    severity: 'error',
    from: {},
    to: { circular: true },
  },
  ...PACKAGES.map(([folder, imports, comment]) => ({
    name: `imports-of-${folder}`,
    comment,
    severity: 'error' as const,
    from: { path: `^${folder}/src/` },
    to: { path: ANY_PACKAGE, pathNot: [folder, ...imports].map(within) },
  })),
  {
    name: 'packages-by-name',
    comment: 'Another package is imported by its name: what it exports is its contract.',
    severity: 'error',
    from: { path: ANY_PACKAGE },
    to: {
      path: ANY_PACKAGE,
      pathNot: ['^$1/src/', '^sdk-node/src/(agent|inspector)/api-messages\\.ts$'],
      dependencyTypesNot: ['undetermined', 'aliased'],
    },
  },
  {
    name: 'core-without-features',
    comment: 'The core is what every relay has. A feature that is off, or deleted, must leave nothing in it.',
    severity: 'error',
    from: { path: '^relay/src/core/' },
    to: { path: '^relay/src/', pathNot: '^relay/src/(core/|feature\\.ts$)' },
  },
  {
    name: 'features-by-index',
    comment: 'A feature knows of another only what its index.ts exports.',
    severity: 'error',
    from: { path: '^relay/src/features/([^/]+)/' },
    to: {
      path: '^relay/src/features/',
      pathNot: ['^relay/src/features/($1/|[^/]+/index\\.ts$)', ...SHARED_BY_FEATURES],
    },
  },
  {
    name: 'features-without-relay',
    comment:
      'The relay starts its features: a feature uses what it is given, the core, and features that it needs.',
    severity: 'error',
    from: { path: '^relay/src/features/' },
    to: { path: '^relay/src/', pathNot: '^relay/src/(core/|features/|feature\\.ts$)' },
  },
  {
    name: 'codecs-without-engine',
    comment: 'The relay imports the messages of TLS: they must not lead it to the engine.',
    severity: 'error',
    from: { path: '^tls/src/messages/' },
    to: { path: '^tls/src/', pathNot: '^tls/src/messages/' },
  },
  {
    name: 'payers-without-chain',
    comment: 'A page that pays must not load the libraries of the chain, by no kind of import.',
    severity: 'error',
    from: { path: '^payment/src/client\\.ts$' },
    to: { path: '^payment/src/sui/', reachable: true },
  },
  {
    name: 'http-versions-apart',
    comment: 'Both versions of HTTP map onto the same semantics: one is not needed for the other.',
    severity: 'error',
    from: { path: '^sdk-core/src/(http1|http2)/' },
    to: { path: '^sdk-core/src/(http1|http2)/', pathNot: '^sdk-core/src/$1/' },
  },
  {
    name: 'adapters-at-build-time',
    comment: 'The adapters run in Node, where frameworks are built: no page imports them.',
    severity: 'error',
    from: { path: '^sdk-browser/src/', pathNot: '^sdk-browser/src/adapters/' },
    to: { path: '^sdk-browser/src/adapters/' },
  },
  {
    name: 'commands-on-top',
    comment: 'The commands use what the API has; the API works without them.',
    severity: 'error',
    from: { path: '^sdk-node/src/', pathNot: '^sdk-node/src/cli/' },
    to: { path: '^sdk-node/src/cli/' },
  },
  {
    name: 'pages-apart',
    comment: 'A page of the relay imports no other page: each loads when it is opened.',
    severity: 'error',
    from: { path: '^relay/web/src/(landing|sites|relays|admin|authority)/' },
    to: {
      path: '^relay/web/src/(landing|sites|relays|admin|authority)/',
      pathNot: '^relay/web/src/$1/',
    },
  },
  {
    name: 'tests-apart',
    comment: 'What is published imports nothing of the tests and tools.',
    severity: 'error',
    from: { path: ANY_PACKAGE },
    to: { path: ['/test/', '^(scripts|e2e|bench|tools)/'] },
  },
  {
    name: 'tools-below-all',
    comment: 'What scripts, e2e and bench share is in tools, which knows none of them.',
    severity: 'error',
    from: { path: '^(scripts|e2e|bench|tools)/' },
    to: { path: '^(scripts|e2e|bench)/', pathNot: '^$1/' },
  },
]

/** @param place a package, or a file or folder of one */
function within(place: string): string {
  return place.includes('/src/') ? `^${place}(/|$)` : `^${place}/src/`
}
