// The entries of the packages that the API reference shows, in the order in which readers want them.

export interface Entry {
  /** From the repository's root. */
  file: string
  /** What a program imports. */
  name: string
  /** @default the description of the package */
  description?: string
}

export const ENTRIES: readonly Entry[] = [
  { file: 'sdk-browser/src/index.ts', name: '@svc/sdk-browser' },
  { file: 'sdk-node/src/index.ts', name: '@svc/sdk-node' },
  {
    file: 'sdk-core/src/handlers/index.ts',
    name: '@svc/sdk-core/handlers',
    description: 'Handlers for `fetch`, which both SDKs export at `/handlers`',
  },
  {
    file: 'sdk-core/src/payer/index.ts',
    name: '@svc/sdk-core/payer',
    description: 'The client of paid routes, which `@svc/sdk-browser/payer` exports',
  },
  { file: 'sdk-core/src/index.ts', name: '@svc/sdk-core' },
  { file: 'relay/src/index.ts', name: '@svc/relay' },
  { file: 'payment/src/index.ts', name: '@svc/payment' },
  { file: 'protocol/src/index.ts', name: '@svc/protocol' },
  { file: 'tls/src/index.ts', name: '@svc/tls' },
  {
    file: 'tls/src/messages/index.ts',
    name: '@svc/tls/messages',
    description: 'The codec of handshake messages, without the engine',
  },
  { file: 'yamux/src/index.ts', name: '@svc/yamux' },
  { file: 'dns/src/index.ts', name: '@svc/dns' },
  {
    file: 'node-kit/src/http/index.ts',
    name: '@svc/node-kit/http',
    description: 'What the relay and the SDK both refuse of HTTP requests',
  },
  {
    file: 'node-kit/src/sockets/index.ts',
    name: '@svc/node-kit/sockets',
    description: 'Sockets of Node: how they end and encrypt',
  },
]
