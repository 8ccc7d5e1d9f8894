// Says which folder may import which, and why, in the order in which a connection meets them. A file at the root of a package
// stands for itself. scripts/lint/folders.ts fails for each import that is not here, and for each entry that no import needs.

interface FolderRow {
  imports: readonly string[]
  /** Says what the folder does, and so what it needs. */
  why: string
}

/** By the path of a source folder; `.` is the repository, of which only the folders below are judged. */
export type FolderTable = Readonly<Record<string, Readonly<Record<string, FolderRow>>>>

export const FOLDER_TABLE: FolderTable = {
  'tls/src': {
    'index.ts': {
      imports: [
        'server.ts',
        'config.ts',
        'handshake',
        'certificate',
        'session-tickets.ts',
        'crypto',
        'errors.ts',
        'limits.ts',
      ],
      why: 'It exports what users of the engine need.',
    },
    'server.ts': {
      imports: [
        'config.ts',
        'version-negotiation.ts',
        'handshake',
        'record',
        'crypto',
        'messages',
        'errors.ts',
        'limits.ts',
      ],
      why: 'It joins records, handshake and application data, and leaves the choice of a version to version-negotiation.ts.',
    },
    'version-negotiation.ts': {
      imports: ['config.ts', 'tls12', 'handshake', 'crypto', 'messages', 'errors.ts'],
      why: 'It alone knows both handshakes, and picks one of them.',
    },
    tls12: {
      imports: [
        'config.ts',
        'handshake',
        'record',
        'certificate',
        'crypto',
        'messages',
        'errors.ts',
        'limits.ts',
      ],
      why: 'TLS 1.2 builds on what the handshake of TLS 1.3 has in common with it; nothing of TLS 1.3 imports it.',
    },
    handshake: {
      imports: [
        'config.ts',
        'session-tickets.ts',
        'record',
        'certificate',
        'crypto',
        'messages',
        'errors.ts',
        'limits.ts',
      ],
      why: 'The handshake sends and receives through the record layer (RFC 8446 §4).',
    },
    'config.ts': {
      imports: ['session-tickets.ts', 'certificate', 'crypto', 'messages', 'errors.ts', 'limits.ts'],
      why: 'Settings name the types of what they are made of, and no part that reads them.',
    },
    'session-tickets.ts': {
      imports: ['crypto', 'messages', 'limits.ts'],
      why: 'A ticket is sealed state (RFC 8446 §4.6.1); it knows no handshake.',
    },
    record: {
      imports: ['crypto', 'messages', 'errors.ts', 'limits.ts'],
      why: 'The record layer protects bytes under keys that it is given (RFC 8446 §5); it knows no handshake.',
    },
    certificate: {
      imports: ['der', 'messages', 'errors.ts'],
      why: 'It reads and compresses a certificate chain without a connection.',
    },
    crypto: {
      imports: ['messages', 'errors.ts'],
      why: 'Primitives and the key schedule (RFC 8446 §7) compute from bytes alone; code points are in messages.',
    },
    der: {
      imports: [],
      why: 'The relay imports this codec without the engine, so it imports nothing of the engine.',
    },
    'errors.ts': { imports: ['messages'], why: 'An error carries the alert that answers it.' },
    'limits.ts': { imports: [], why: 'It holds numbers.' },
    messages: {
      imports: [],
      why: 'The relay imports this codec without the engine, so it imports nothing of the engine.',
    },
  },
  'payment/src': {
    'index.ts': {
      imports: ['client.ts', 'create-facilitator.ts', 'journal.ts', 'kept-records.ts', 'log-journal.ts'],
      why: 'It exports what sites, relays and journals need, and loads no library.',
    },
    'client.ts': {
      imports: [
        'facilitator.ts',
        'http-facilitator.ts',
        'limits.ts',
        'messages.ts',
        'networks.ts',
        'payment-error.ts',
        'prepared.ts',
      ],
      why: 'It exports what leads to no library of the chain, by no kind of import.',
    },
    'create-facilitator.ts': {
      imports: ['sui', 'facilitator.ts', 'journal.ts', 'limits.ts', 'networks.ts', 'payment-error.ts'],
      why: 'It alone leads to the libraries, by a dynamic import.',
    },
    sui: {
      imports: [
        'facilitator.ts',
        'journal.ts',
        'limits.ts',
        'messages.ts',
        'networks.ts',
        'payment-error.ts',
        'transaction-bytes.ts',
      ],
      why: 'The facilitator knows the interface of a journal, and no journal.',
    },
    'prepared.ts': {
      imports: ['limits.ts', 'networks.ts', 'transaction-bytes.ts'],
      why: 'A payer checks what it signs without a library of the chain.',
    },
    'transaction-bytes.ts': { imports: [], why: 'It writes bytes, and knows no node.' },
    'http-facilitator.ts': {
      imports: ['facilitator.ts', 'limits.ts', 'messages.ts', 'payment-error.ts'],
      why: 'A facilitator at a URL needs no library of the chain.',
    },
    'log-journal.ts': {
      imports: ['journal.ts', 'kept-records.ts', 'limits.ts', 'payment-error.ts'],
      why: 'It writes records into a file that it is given.',
    },
    'kept-records.ts': {
      imports: ['journal.ts', 'limits.ts', 'payment-error.ts'],
      why: 'It knows which records may go, and no file.',
    },
    'journal.ts': { imports: ['messages.ts'], why: 'A record keeps the answer to a payment.' },
    'facilitator.ts': { imports: ['messages.ts'], why: 'It names the questions and answers.' },
    'networks.ts': { imports: ['limits.ts', 'messages.ts'], why: 'It holds facts.' },
    'payment-error.ts': { imports: [], why: 'It holds codes.' },
    'messages.ts': { imports: [], why: 'It holds types.' },
    'limits.ts': { imports: [], why: 'It holds numbers.' },
  },
  'sdk-core/src': {
    'index.ts': {
      imports: [
        'publish.ts',
        'site',
        'platform.ts',
        'identity',
        'control',
        'cache',
        'certificate',
        'carrier',
        'tenant',
        'exchange',
        'websocket',
        'handlers',
        'semantics',
        'bytes',
        'errors.ts',
        'limits.ts',
      ],
      why: 'It exports what the SDKs of platforms need.',
    },
    'publish.ts': {
      imports: ['relays', 'site', 'platform.ts', 'identity', 'errors.ts', 'explained.ts'],
      why: 'It starts a site on a platform, at one relay or at several.',
    },
    relays: {
      imports: ['site', 'cache', 'control', 'identity', 'platform.ts', 'timers', 'errors.ts'],
      why: 'A site at several relays is a site at each, and one more that stands for all.',
    },
    site: {
      imports: [
        'carrier',
        'tenant',
        'certificate',
        'cache',
        'control',
        'exchange',
        'identity',
        'platform.ts',
        'errors.ts',
        'explained.ts',
        'sentences.ts',
        'limits.ts',
        'platform-objects.ts',
      ],
      why: 'A site joins control plane, carriers and visitors for as long as it is published.',
    },
    'platform.ts': {
      imports: ['carrier', 'control', 'certificate', 'tenant', 'bytes', 'errors.ts'],
      why: 'It names what a platform gives a site.',
    },
    identity: {
      imports: ['platform-objects.ts', 'errors.ts'],
      why: 'A key signs what it is given, and knows no relay.',
    },
    siwe: {
      imports: ['identity'],
      why: 'A message is text, and a key signed it; who asked for it is not known here.',
    },
    control: {
      imports: ['identity', 'bytes', 'errors.ts', 'explained.ts', 'limits.ts'],
      why: 'The control plane registers, renews and signs, and carries no visitor.',
    },
    carrier: {
      imports: ['bytes', 'errors.ts', 'explained.ts', 'limits.ts', 'platform-objects.ts'],
      why: 'A carrier brings reverse sessions, and does not look into them.',
    },
    tenant: {
      imports: [
        'http2',
        'http1',
        'exchange',
        'certificate',
        'control',
        'bytes',
        'errors.ts',
        'explained.ts',
        'limits.ts',
      ],
      why: 'One visitor: TLS, then the version of HTTP that was agreed on.',
    },
    certificate: {
      imports: ['control', 'bytes', 'errors.ts', 'explained.ts', 'limits.ts'],
      why: 'Which certificate a site shows: its own, which it asks its relay for, or the relay’s. It knows no visitor.',
    },
    cache: {
      imports: ['bytes', 'control', 'handlers', 'errors.ts', 'limits.ts', 'platform-objects.ts'],
      why: 'A site stores files at its relay, from all that the handler of files takes; it knows no visitor.',
    },
    http2: {
      imports: ['hpack', 'exchange', 'websocket', 'semantics', 'timers', 'bytes'],
      why: 'RFC 9113 maps onto the semantics of RFC 9110; HTTP/1.1 is not needed for it.',
    },
    hpack: { imports: ['semantics', 'bytes'], why: 'RFC 7541 compresses fields, and knows no frames.' },
    http1: {
      imports: ['exchange', 'websocket', 'semantics', 'timers', 'bytes'],
      why: 'RFC 9112 maps onto the semantics of RFC 9110; HTTP/2 is not needed for it.',
    },
    exchange: {
      imports: ['websocket', 'semantics', 'timers', 'bytes', 'platform-objects.ts'],
      why: 'One request and its response, in whichever version.',
    },
    websocket: {
      imports: ['semantics', 'timers', 'bytes', 'platform-objects.ts'],
      why: 'RFC 6455 runs over any stream of bytes, of either version of HTTP.',
    },
    payer: {
      imports: ['bytes', 'errors.ts'],
      why: 'A payer knows the site as a stranger: what it answers, and nothing of how it sells.',
    },
    handlers: {
      imports: [
        'payer',
        'siwe',
        'identity',
        'exchange',
        'websocket',
        'control',
        'semantics',
        'timers',
        'bytes',
        'errors.ts',
        'platform-objects.ts',
      ],
      why: 'Handlers are made of requests and responses, and know no site; visitors may sign in with a wallet, and paid routes ask a relay for its facilitator and speak with payers.',
    },
    'payment.ts': { imports: [], why: 'It passes the facilitator of payments on.' },
    semantics: { imports: [], why: 'RFC 9110 is the same in each version of HTTP.' },
    timers: { imports: [], why: 'Deadlines know nothing of what they end.' },
    bytes: { imports: [], why: 'It joins and splits bytes.' },
    'platform-objects.ts': { imports: [], why: 'It says what a value is, whichever realm it comes from.' },
    'explained.ts': {
      imports: ['sentences.ts', 'errors.ts'],
      why: 'It makes an error whose sentence loads late.',
    },
    'option-names.ts': { imports: [], why: 'It compares names.' },
    'sentences.ts': {
      imports: ['limits.ts', 'option-names.ts'],
      why: 'Sentences of errors that few pages ever have.',
    },
    'errors.ts': { imports: [], why: 'It holds codes and messages.' },
    'limits.ts': { imports: [], why: 'It holds numbers.' },
  },
  'sdk-browser/src': {
    'index.ts': { imports: ['publish.ts'], why: 'It exports the public API.' },
    'publish.ts': {
      imports: ['identity-store.ts', 'site-keys.ts', 'page-lifecycle.ts', 'globals'],
      why: 'It gives the core what a page has.',
    },
    'identity-store.ts': { imports: [], why: 'It knows IndexedDB and the core.' },
    'site-keys.ts': { imports: [], why: 'It knows IndexedDB and the core.' },
    'page-lifecycle.ts': { imports: [], why: 'It knows the events of a page and the core.' },
    globals: { imports: [], why: 'They work without a site.' },
    'handlers.ts': { imports: [], why: 'It passes the handlers of the core on.' },
    'payer.ts': { imports: [], why: 'It passes the payer’s client of the core on.' },
    payment: { imports: [], why: 'A journal knows IndexedDB and the interface of the core.' },
    adapters: { imports: [], why: 'They run where frameworks are built, never in a page.' },
  },
  'sdk-node/src': {
    'index.ts': {
      imports: ['publish.ts', 'expose.ts', 'carrier', 'folder', 'net', 'target', 'probe'],
      why: 'It exports the public API.',
    },
    cli: {
      imports: [
        'agent',
        'expose.ts',
        'platform.ts',
        'carrier',
        'identity',
        'payment',
        'folder',
        'probe',
        'node-version.ts',
        'version.ts',
        'limits.ts',
      ],
      why: 'The commands use what the API has; nothing imports them.',
    },
    agent: {
      imports: ['probe', 'identity', 'installation.ts'],
      why: 'The control API asks the code that starts it for what it shows and changes, and knows no tunnel.',
    },
    'publish.ts': {
      imports: ['handler-globals.ts', 'known-options.ts', 'platform.ts', 'hops', 'net'],
      why: 'It gives the core what Node has.',
    },
    'handlers.ts': { imports: [], why: 'It passes the handlers of the core on.' },
    'payer.ts': { imports: [], why: 'It passes the payer’s client of the core on.' },
    'expose.ts': {
      imports: [
        'handler-globals.ts',
        'known-options.ts',
        'platform.ts',
        'hops',
        'datagram',
        'target',
        'probe',
        'net',
      ],
      why: 'It joins relays and a local target, over TCP and over datagrams.',
    },
    hops: {
      imports: ['known-options.ts', 'platform.ts', 'carrier', 'net', 'limits.ts'],
      why: 'A route puts another way to its relays below a platform; it knows no target.',
    },
    'platform.ts': {
      imports: ['carrier', 'identity', 'tls', 'net', 'node-version.ts', 'limits.ts'],
      why: 'It is what Node has for the core: files, sockets, cryptography.',
    },
    'known-options.ts': { imports: [], why: 'It compares names.' },
    'handler-globals.ts': { imports: [], why: 'It adds to what Node has for handlers, and knows no site.' },
    carrier: { imports: ['net', 'limits.ts'], why: 'It dials the relay, and knows no target.' },
    datagram: {
      imports: ['target', 'net', 'installation.ts', 'limits.ts'],
      why: 'A tunnel passes datagrams to a local UDP target.',
    },
    target: {
      imports: ['http-client', 'folder', 'net', 'limits.ts'],
      why: 'A target is a local service or a folder; it knows no relay.',
    },
    'http-client': {
      imports: ['net', 'limits.ts'],
      why: 'It asks one server, and knows neither a site nor a visitor.',
    },
    folder: { imports: [], why: 'It serves files to requests of any origin.' },
    probe: {
      imports: ['net', 'limits.ts'],
      why: 'A self-probe is an ordinary visitor, and so is one who looks at certificates alone.',
    },
    payment: {
      imports: ['identity'],
      why: 'A journal of payments is a private file, as that of an identity.',
    },
    identity: { imports: [], why: 'It reads a key from a file or from words.' },
    tls: {
      imports: ['net', 'limits.ts'],
      why: 'It implements the provider of @svc/tls, and ends TLS itself on sockets.',
    },
    net: { imports: ['limits.ts'], why: 'It resolves names, wraps sockets, and asks the relay.' },
    'installation.ts': { imports: [], why: 'It holds paths of modules and of the page of the agent.' },
    'node-version.ts': { imports: [], why: 'It runs on a Node that is too old for the rest.' },
    'version.ts': { imports: [], why: 'It holds the version.' },
    'limits.ts': { imports: [], why: 'It holds numbers.' },
  },
  'relay/web/src': {
    'main.tsx': {
      imports: ['app.tsx', 'landing', 'preact.ts'],
      why: 'It starts the app, and what a reload interrupted.',
    },
    'app.tsx': {
      imports: ['landing', 'sites', 'relays', 'admin', 'authority', 'shell', 'common', 'texts', 'preact.ts'],
      why: 'It alone knows all pages, and loads those that few visitors open later.',
    },
    landing: {
      imports: ['shell', 'common', 'texts', 'preact.ts'],
      why: 'A page imports no other page.',
    },
    sites: { imports: ['common', 'texts', 'preact.ts'], why: 'A page imports no other page.' },
    relays: { imports: ['common', 'texts', 'preact.ts'], why: 'A page imports no other page.' },
    admin: { imports: ['shell', 'common', 'texts', 'preact.ts'], why: 'A page imports no other page.' },
    authority: {
      imports: ['common', 'texts', 'authority-files.ts', 'preact.ts'],
      why: 'A page imports no other page.',
    },
    shell: { imports: ['common', 'texts', 'preact.ts'], why: 'Routes and links know paths, and no page.' },
    common: {
      imports: ['texts', 'authority-files.ts', 'preact.ts'],
      why: 'What several pages use knows none of them.',
    },
    texts: { imports: ['authority-files.ts'], why: 'Every word that a person reads is here, without code.' },
    'authority-files.ts': { imports: [], why: 'It holds paths.' },
    'preact.ts': { imports: [], why: 'It is the one importer of Preact.' },
  },
  'sdk-node/web/src': {
    'main.tsx': { imports: ['app.tsx', 'session'], why: 'It starts the app, and the sign-in of the tab.' },
    'app.tsx': {
      imports: ['dashboard', 'sign-in', 'session', 'texts'],
      why: 'It shows the sign-in, or what the agent runs.',
    },
    dashboard: {
      imports: ['tunnels', 'session', 'texts'],
      why: 'It is one page of cards, of which each tunnel has one.',
    },
    tunnels: { imports: ['session', 'texts'], why: 'A tunnel knows no other card.' },
    'sign-in': {
      imports: ['session', 'texts'],
      why: 'It leads into a session, and knows nothing behind it.',
    },
    session: { imports: ['texts'], why: 'It asks the agent in the name of who is signed in.' },
    texts: { imports: [], why: 'Every word that a person reads is here, without code.' },
  },
  '.': {
    scripts: { imports: ['tools'], why: 'What scripts, e2e and bench share is in tools.' },
    e2e: { imports: ['tools'], why: 'What scripts, e2e and bench share is in tools.' },
    bench: { imports: ['tools'], why: 'What scripts, e2e and bench share is in tools.' },
    tools: {
      imports: [],
      why: 'It starts relays, browsers and sites for the others, and knows none of them.',
    },
  },
}
