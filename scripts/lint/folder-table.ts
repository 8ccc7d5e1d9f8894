// Which folder may import which, and why, in the order in which a connection meets them. A file at the root of a package
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
      imports: ['messages', 'errors.ts'],
      why: 'It reads and compresses a certificate chain without a connection.',
    },
    crypto: {
      imports: ['messages', 'errors.ts'],
      why: 'Primitives and the key schedule (RFC 8446 §7) compute from bytes alone; code points are in messages.',
    },
    'errors.ts': { imports: ['messages'], why: 'An error carries the alert that answers it.' },
    'limits.ts': { imports: [], why: 'It holds numbers.' },
    messages: {
      imports: [],
      why: 'The relay imports this codec without the engine, so it imports nothing of the engine.',
    },
  },
  'sdk-core/src': {
    'index.ts': {
      imports: [
        'publish.ts',
        'site',
        'platform.ts',
        'identity',
        'control',
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
      imports: ['site', 'platform.ts', 'identity', 'errors.ts'],
      why: 'It starts a site on a platform.',
    },
    site: {
      imports: [
        'carrier',
        'tenant',
        'control',
        'exchange',
        'identity',
        'platform.ts',
        'timers',
        'errors.ts',
        'limits.ts',
      ],
      why: 'A site joins control plane, carriers and visitors for as long as it is published.',
    },
    'platform.ts': {
      imports: ['carrier', 'control', 'tenant', 'bytes', 'errors.ts'],
      why: 'It names what a platform gives a site.',
    },
    identity: { imports: ['errors.ts'], why: 'A key signs what it is given, and knows no relay.' },
    control: {
      imports: ['identity', 'bytes', 'errors.ts', 'limits.ts'],
      why: 'The control plane registers, renews and signs, and carries no visitor.',
    },
    carrier: {
      imports: ['timers', 'bytes', 'errors.ts', 'limits.ts'],
      why: 'A carrier brings reverse sessions, and does not look into them.',
    },
    tenant: {
      imports: ['http2', 'http1', 'exchange', 'control', 'timers', 'bytes', 'errors.ts', 'limits.ts'],
      why: 'One visitor: TLS, then the version of HTTP that was agreed on.',
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
      imports: ['websocket', 'semantics', 'timers', 'bytes'],
      why: 'One request and its response, in whichever version.',
    },
    websocket: {
      imports: ['semantics', 'timers', 'bytes'],
      why: 'RFC 6455 runs over any stream of bytes, of either version of HTTP.',
    },
    handlers: {
      imports: ['exchange', 'semantics', 'bytes', 'errors.ts'],
      why: 'Handlers are made of requests and responses, and know no site.',
    },
    semantics: { imports: [], why: 'RFC 9110 is the same in each version of HTTP.' },
    timers: { imports: [], why: 'Deadlines know nothing of what they end.' },
    bytes: { imports: [], why: 'It joins and splits bytes.' },
    'errors.ts': { imports: [], why: 'It holds codes and messages.' },
    'limits.ts': { imports: [], why: 'It holds numbers.' },
  },
  'sdk-browser/src': {
    'index.ts': { imports: ['publish.ts'], why: 'It exports the public API.' },
    'publish.ts': {
      imports: ['identity-store.ts', 'page-lifecycle.ts', 'globals'],
      why: 'It gives the core what a page has.',
    },
    'identity-store.ts': { imports: [], why: 'It knows IndexedDB and the core.' },
    'page-lifecycle.ts': { imports: [], why: 'It knows the events of a page and the core.' },
    globals: { imports: [], why: 'They work without a site.' },
    'handlers.ts': { imports: [], why: 'It passes the handlers of the core on.' },
    adapters: { imports: [], why: 'They run where frameworks are built, never in a page.' },
  },
  'sdk-node/src': {
    'index.ts': {
      imports: ['publish.ts', 'expose.ts', 'platform.ts', 'folder', 'target', 'probe'],
      why: 'It exports the public API.',
    },
    cli: {
      imports: ['expose.ts', 'platform.ts', 'identity-file.ts', 'relays', 'target', 'folder', 'probe'],
      why: 'The commands use what the API has; nothing imports them.',
    },
    'publish.ts': { imports: ['platform.ts'], why: 'It gives the core what Node has.' },
    'expose.ts': {
      imports: ['attempt.ts', 'platform.ts', 'relays', 'datagram', 'target', 'probe', 'lookup.ts'],
      why: 'It joins relays and a local target, over TCP and over datagrams.',
    },
    'attempt.ts': { imports: [], why: 'It waits between tries, whatever is tried.' },
    relays: { imports: ['limits.ts'], why: 'It finds and compares relays, and opens nothing to visitors.' },
    'platform.ts': {
      imports: ['carrier', 'identity-file.ts', 'tls-crypto.ts', 'lookup.ts', 'limits.ts'],
      why: 'It is what Node has for the core: files, sockets, cryptography.',
    },
    carrier: { imports: ['limits.ts'], why: 'It dials the relay, and knows no target.' },
    datagram: {
      imports: ['target', 'lookup.ts', 'limits.ts'],
      why: 'A tunnel passes datagrams to a local UDP target.',
    },
    target: {
      imports: ['carrier', 'folder', 'lookup.ts', 'limits.ts'],
      why: 'A target is a local service or a folder; it shares sockets with the carrier.',
    },
    folder: { imports: [], why: 'It serves files to requests, whoever brings them.' },
    probe: { imports: [], why: 'A self-probe is an ordinary visitor.' },
    'identity-file.ts': { imports: ['mnemonic.ts'], why: 'An identity file may hold a mnemonic.' },
    'mnemonic.ts': { imports: [], why: 'It derives a key from words.' },
    'tls-crypto.ts': { imports: [], why: 'It implements the provider of @svc/tls.' },
    'lookup.ts': { imports: [], why: 'It resolves names.' },
    'limits.ts': { imports: [], why: 'It holds numbers.' },
  },
  'relay/web/src': {
    'main.tsx': {
      imports: ['app.tsx', 'landing', 'preact.ts'],
      why: 'It starts the app, and what a reload interrupted.',
    },
    'app.tsx': {
      imports: ['landing', 'sites', 'admin', 'authority', 'shell', 'common', 'texts', 'preact.ts'],
      why: 'It alone knows all pages, and loads those that few visitors open later.',
    },
    landing: {
      imports: ['shell', 'common', 'texts', 'preact.ts'],
      why: 'A page imports no other page.',
    },
    sites: { imports: ['common', 'texts', 'preact.ts'], why: 'A page imports no other page.' },
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
