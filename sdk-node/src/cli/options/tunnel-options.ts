// The options of a tunnel, each defined once for the command line, svc.toml, and commands.

import type { TrafficRules } from '@svc/sdk-core'
import { CARRIERS, type CarrierKind } from '../../carrier/kinds.ts'
import type { ProxyProtocol } from '../../target/tcp-target.ts'
import {
  BINDING,
  COUNT,
  choice,
  FIELDS,
  type Kind,
  PATH,
  PICTURE,
  PLACE,
  RELAYS,
  ROUTES,
  RULES,
  TEXT,
  TEXTS,
  TOKEN,
  WALLETS,
  YES_NO,
} from './option-kinds.ts'

/** The options of each tunnel. */
export interface TunnelOptions {
  identityPath: string
  relay: string[]
  name?: string
  ca?: string
  /** The URL of an HTTP proxy; empty for none. */
  proxy?: string
  /** The relays behind the one that visitors connect to. */
  via?: string[]
  carrier: CarrierKind
  certificate?: 'own' | 'shared'
  /** The caller's own domains. */
  domain?: string[]
  /** Whether the user agrees to the terms of the authority of their certificates. */
  acmeAgreeTerms?: boolean
  acmeEmail?: string
  /** The URL of the authority's directory. */
  acmeDirectory?: string
  /** The key by which the authority knows its customer, as `ID=KEY`. */
  acmeEab?: string
  /** The PEM file of a certificate of the domains, in place of one that svc orders. */
  domainCertificate?: string
  /** The PEM file of its key. */
  domainKey?: string
  hsts?: boolean
  allowCanonical: boolean
  /** The token of an invitation, or `@` and the path of a file that has it. */
  invitation?: string
  listed: boolean
  awayPage?: boolean
  banMitm: boolean
  overlay: boolean
  allowLocalGateways?: boolean
  /** The number of relays to use in addition to the named ones. */
  discover: number
  /** The routes, each as `PLACE=TARGET`, followed by ` METHODS:AMOUNT` for each price. */
  route: string[]
  /** The addresses of the wallets that may sign in; without any, every visitor is admitted. */
  allowWallet?: string[]
  /** Request fields that claim who the visitor is and that the target gets nevertheless. */
  allowField: string[]
  /** Whether requests are recorded for a look at them. */
  inspect: boolean
  /** The file of a FileDescriptorSet, by which protobuf is shown. */
  proto?: string
  /** The file that gets a line for each request. */
  log?: string
  logFormat?: LogFormat
  /** How much of a visitor's address the output and the file have. */
  logAddresses: LogAddresses
  /** The JSON-RPC endpoint for contract wallets. */
  walletRpc?: string
  /** The address that receives payments. */
  x402PayTo?: string
  x402Network?: 'sui:mainnet' | 'sui:testnet'
  /** The URL of a facilitator, or `self`. */
  x402Facilitator?: string
  /** Full nodes for the facilitator `self`. */
  x402Endpoints?: string[]
  /** The traffic rules of svc.toml. */
  rules?: TrafficRules
  /** Fields of responses, each `Name: value`, or `Name:` to drop one. */
  header: string[]
  /** Fields of requests, in the same way. */
  requestHeader: string[]
  /** The origins whose pages may read responses. */
  cors: string[]
  maintenance: boolean
  targetCa?: string
  targetServerName?: string
  tlsMinVersion?: 'TLSv1.2' | 'TLSv1.3'
  /** The PEM file of the authorities whose client certificates visitors need. */
  clientCa?: string
  /** Whether visitors may come without a client certificate. */
  clientCertOptional?: boolean
  /** The PEM file of revocation lists. */
  clientCrl?: string
  /** The host that a target sees: `preserve`, `rewrite`, or a host. */
  hostHeader?: string
  /** The text in the relay's list of sites. */
  description?: string
  owner?: string
  tag: string[]
  /** The URL or path of an image. */
  thumbnail?: string
}

/** The options of a service that is not, or not only, a web server. */
export interface ServiceOptions {
  tls?: string
  tcp?: string
  udp?: string
  /** The version of the PROXY protocol that the TCP or TLS service gets. */
  proxyProtocol?: ProxyProtocol
}

/** The form of the lines of an access log. */
const LOG_FORMATS = ['common', 'json'] as const
type LogFormat = (typeof LOG_FORMATS)[number]

/** LogAddresses is how much of a visitor's address the output has: nothing, its network, or all. */
export type LogAddresses = 'off' | 'short' | 'full'

/** The options of a served folder. */
export interface FolderOptions {
  listing: boolean
  /** Whether paths of an application get its index. */
  spa: boolean
  hidden: boolean
  /** Whether the relay stores a copy of the folder. */
  cache: boolean
  /** How long the relay serves the copy while the site is away, in seconds; undefined for as long as it allows. */
  cacheTtl?: number
}

interface OptionNames {
  /** The name in svc.toml. Undefined when the file cannot have it. */
  field?: string
  /** The field may be at the head of svc.toml, for all tunnels. */
  isShared?: true
  /** The flags on the command line, in commander's syntax. Undefined when it cannot have the option. */
  flags?: string
  help: string
}

/** A TunnelOption is one option of a tunnel. */
export interface TunnelOption<T, Fallback> extends OptionNames {
  kind: Kind<T>
  /** The default when neither the command line nor svc.toml has a value. Undefined for none. */
  fallback: Fallback
}

export function optional<T>(kind: Kind<T>, names: OptionNames): TunnelOption<T, undefined> {
  return { ...names, kind, fallback: undefined }
}

function usual<T>(kind: Kind<T>, fallback: T, names: OptionNames): TunnelOption<T, T> {
  return { ...names, kind, fallback }
}

const shared = { isShared: true } as const

/** A Table has each of the options `O`. */
export type Table<O> = {
  readonly [Name in keyof O]-?: TunnelOption<
    O[Name],
    Record<never, never> extends Pick<O, Name> ? undefined : O[Name]
  >
}

export const TUNNEL_OPTIONS: Table<TunnelOptions> = {
  relay: usual<string[]>(RELAYS, [], {
    ...shared,
    field: 'relay',
    flags: '-r, --relay <url>',
    help: 'the relay; several times [SVC_URL, else svc config]',
  }),
  discover: usual(COUNT, 0, {
    ...shared,
    field: 'discover',
    flags: '--discover [count]',
    help: 'ask the relay for others, and use this many more, 3 without a count',
  }),
  via: optional(RELAYS, {
    ...shared,
    field: 'via',
    flags: '--via <urls>',
    help: 'one to three relays behind --relay, separated by commas: svc connects to the last, and each knows only its neighbours',
  }),
  ca: optional(PATH, {
    ...shared,
    field: 'ca',
    flags: '--ca <file>',
    help: 'PEM of the CA to trust for the relay instead of the system’s [svc config, for its relay]',
  }),
  proxy: optional(TEXT, {
    ...shared,
    field: 'proxy',
    flags: '--proxy <url>',
    help: 'the HTTP proxy to the relay [HTTPS_PROXY, except for NO_PROXY]',
  }),
  identityPath: usual(PATH, '', {
    ...shared,
    field: 'identity_path',
    flags: '--identity-path <file>',
    help: 'the identity’s file [IDENTITY_PATH]',
  }),
  carrier: usual<CarrierKind>(choice(CARRIERS, '"native", "native-sessions" or "websocket"'), 'native', {
    ...shared,
    field: 'carrier',
    flags: '--carrier <kind>',
    help: 'how visitors come',
  }),
  certificate: optional(choice(['own', 'shared']), {
    ...shared,
    field: 'certificate',
    flags: '--certificate <whose>',
    help: 'whose certificate visitors see: the site’s own, or the relay’s [own]',
  }),
  tlsMinVersion: optional(choice(['TLSv1.2', 'TLSv1.3']), {
    ...shared,
    field: 'tls_min_version',
    flags: '--tls-min-version <version>',
    help: 'the lowest TLS version for visitors [TLSv1.3]',
  }),
  clientCa: optional(PATH, {
    ...shared,
    field: 'client_ca',
    flags: '--client-ca <file>',
    help: 'admit only visitors with a client certificate of these authorities (PEM)',
  }),
  clientCertOptional: optional(YES_NO, {
    ...shared,
    field: 'client_cert_optional',
    flags: '--client-cert-optional',
    help: 'admit visitors without a client certificate, too',
  }),
  clientCrl: optional(PATH, {
    ...shared,
    field: 'client_crl',
    flags: '--client-crl <file>',
    help: 'refuse the client certificates that these lists revoke (PEM)',
  }),
  domain: optional(TEXTS, {
    field: 'domains',
    flags: '--domain <name>',
    help: 'a domain of yours that leads here, too: svc domain says which DNS records it needs; several times',
  }),
  acmeAgreeTerms: optional(YES_NO, {
    ...shared,
    field: 'acme_agree_terms',
    flags: '--acme-agree-terms',
    help: 'you agree to the terms of service of the authority that certifies them',
  }),
  acmeEmail: optional(TEXT, {
    ...shared,
    field: 'acme_email',
    flags: '--acme-email <address>',
    help: 'where the authority may write to',
  }),
  acmeDirectory: optional(TEXT, {
    ...shared,
    field: 'acme_directory',
    flags: '--acme-directory <url>',
    help: 'the directory of another authority [Let’s Encrypt]',
  }),
  acmeEab: optional(BINDING, {
    ...shared,
    field: 'acme_eab',
    flags: '--acme-eab <id=key>',
    help: 'the key by which it knows its customer; the key may be file:PATH or env:NAME',
  }),
  domainCertificate: optional(PATH, {
    field: 'domain_certificate',
    flags: '--domain-certificate <file>',
    help: 'PEM of a certificate of the domains, leaf first, in place of one that svc orders',
  }),
  domainKey: optional(PATH, {
    field: 'domain_key',
    flags: '--domain-key <file>',
    help: 'PEM of its key',
  }),
  hsts: optional(YES_NO, {
    ...shared,
    field: 'hsts',
    flags: '--no-hsts',
    help: 'do not tell browsers to use only https for the site’s hostnames',
  }),
  allowCanonical: usual(YES_NO, false, {
    ...shared,
    field: 'allow_canonical',
    flags: '--allow-canonical',
    help: 'accept the canonical URL alone when the name is taken',
  }),
  invitation: optional(TOKEN, {
    ...shared,
    field: 'invitation',
    flags: '--invitation <token>',
    help: 'the invitation that the relay asks for, or @FILE that has it [SVC_INVITATION]',
  }),
  banMitm: usual(YES_NO, false, {
    ...shared,
    field: 'ban_mitm',
    flags: '--ban-mitm',
    help: 'leave a relay that answers visitors itself, instead of only reporting it',
  }),
  overlay: usual(YES_NO, false, {
    ...shared,
    field: 'overlay',
    flags: '--overlay',
    help: 'prefer visitors through a gateway of the relay’s choice, if it has one',
  }),
  awayPage: optional(YES_NO, {
    ...shared,
    field: 'away_page',
    flags: '--away-page',
    help: 'let the relay end TLS and show a page at the URL while svc is away, with --certificate shared',
  }),
  listed: usual(YES_NO, false, {
    ...shared,
    field: 'listed',
    flags: '--listed',
    help: 'show the site on the relay’s public list',
  }),
  owner: optional(TEXT, {
    ...shared,
    field: 'owner',
    flags: '--owner <text>',
    help: 'the owner of the site, for that list',
  }),
  thumbnail: optional(PICTURE, {
    ...shared,
    field: 'thumbnail',
    flags: '--thumbnail <picture>',
    help: 'an image for that list: a URL or a file',
  }),
  tag: usual<string[]>(TEXTS, [], {
    ...shared,
    field: 'tags',
    flags: '--tag <word>',
    help: 'a tag in that list; several times',
  }),
  x402PayTo: optional(TEXT, {
    ...shared,
    field: 'x402_pay_to',
    flags: '--x402-pay-to <address>',
    help: 'the address that receives payments: 0x and 64 hexadecimal digits',
  }),
  x402Network: optional(choice(['sui:mainnet', 'sui:testnet']), {
    ...shared,
    field: 'x402_network',
    flags: '--x402-network <network>',
    help: 'the network of the payments [sui:mainnet]',
  }),
  x402Facilitator: optional(TEXT, {
    ...shared,
    field: 'x402_facilitator',
    flags: '--x402-facilitator <url>',
    help: 'what verifies and settles payments: a URL, or self for this process [the relay]',
  }),
  x402Endpoints: optional(TEXTS, {
    ...shared,
    field: 'x402_endpoints',
    flags: '--x402-endpoints <urls>',
    help: 'full nodes for the facilitator self, separated by commas',
  }),
  name: optional(TEXT, {
    field: 'name',
    flags: '-n, --name <name>',
    help: 'the site’s name [derived from the identity’s address]',
  }),
  description: optional(TEXT, {
    field: 'description',
    flags: '--description <text>',
    help: 'the description in that list',
  }),
  targetCa: optional(PATH, {
    field: 'target_ca',
    flags: '--target-ca <file>',
    help: 'PEM of the CA of an https: target',
  }),
  targetServerName: optional(TEXT, {
    field: 'target_server_name',
    flags: '--target-server-name <name>',
    help: 'the name in its certificate [the host of the target]',
  }),
  hostHeader: optional(TEXT, {
    field: 'host',
    flags: '--host-header <host>',
    help: 'the Host that the target gets: preserve for that of visitors, rewrite for its own, or one [preserve, unless the target refuses it]',
  }),
  route: usual<string[]>(ROUTES, [], {
    field: 'routes',
    flags: '--route <place=target>',
    help: 'the target for a /path, a host, or both; several times. "/path=target GET:0.01" costs USDC',
  }),
  allowWallet: optional(WALLETS, {
    field: 'allow_wallets',
    flags: '--allow-wallet <address>',
    help: 'admit only visitors who sign in with this wallet; several times',
  }),
  walletRpc: optional(TEXT, {
    field: 'wallet_rpc',
    flags: '--wallet-rpc <url>',
    help: 'the JSON-RPC endpoint for contract wallets among them',
  }),
  allowField: usual<string[]>(TEXTS, [], {
    field: 'allow_fields',
    flags: '--allow-field <name>',
    help: 'pass a request field that svc removes, such as X-Forwarded-For; several times',
  }),
  log: optional(PATH, {
    ...shared,
    field: 'log',
    flags: '--log <file>',
    help: 'append a line for each request to this file, without its query; at 100 MiB it is renamed to FILE.1',
  }),
  logFormat: optional(choice(LOG_FORMATS), {
    ...shared,
    field: 'log_format',
    flags: '--log-format <format>',
    help: 'the form of these lines: the Common Log Format of web servers, or JSON [common]',
  }),
  logAddresses: usual<LogAddresses>(choice(['off', 'short', 'full']), 'short', {
    ...shared,
    field: 'log_addresses',
    flags: '--log-addresses <how>',
    help: 'how much of a visitor’s address the output and the log have: its network (short), all, or nothing [short]',
  }),
  inspect: usual(YES_NO, false, {
    ...shared,
    field: 'inspect',
    flags: '--inspect',
    help: 'record requests, and show them at an address of this machine',
  }),
  proto: optional(PATH, {
    field: 'proto',
    flags: '--proto <file>',
    help: 'show protobuf and gRPC there by these types: a file that protoc --include_imports -o FILE wrote',
  }),
  rules: optional(RULES, { field: 'rules', help: 'traffic rules' }),
  header: usual<string[]>(FIELDS, [], {
    flags: '--header <field>',
    help: 'set a field of responses: "Name: value", or "Name:" to drop it; several times',
  }),
  requestHeader: usual<string[]>(FIELDS, [], {
    flags: '--request-header <field>',
    help: 'set a field of requests to the target, in the same way',
  }),
  cors: usual<string[]>(TEXTS, [], {
    flags: '--cors <origin>',
    help: 'let pages of this origin read responses, or "*" for any; several times',
  }),
  maintenance: usual(YES_NO, false, {
    flags: '--maintenance',
    help: 'answer visitors with a maintenance page',
  }),
  allowLocalGateways: optional(YES_NO, {
    flags: '--allow-local-gateways',
    help: 'also accept gateways of this machine: for tests',
  }),
}

export const SERVICE_OPTIONS: Table<ServiceOptions> = {
  tls: optional(PLACE, {
    field: 'tls',
    flags: '--tls <target>',
    help: 'a TLS server, which gets the visitors’ TLS as it is, in place of an HTTP server',
  }),
  tcp: optional(PLACE, {
    field: 'tcp',
    flags: '--tcp <target>',
    help: 'a TCP service, at a port of its own on the relay',
  }),
  udp: optional(PLACE, {
    field: 'udp',
    flags: '--udp <target>',
    help: 'a UDP service, at a port of its own on the relay',
  }),
  proxyProtocol: optional(choice(['v1', 'v2']), {
    field: 'proxy_protocol',
    flags: '--proxy-protocol <version>',
    help: 'send the TCP or TLS service a header with the visitor’s address first',
  }),
}

export const FOLDER_OPTIONS: Table<FolderOptions> = {
  listing: usual(YES_NO, false, {
    field: 'listing',
    flags: '--listing',
    help: 'list folders that have no index.html, each with a ZIP archive of it',
  }),
  spa: usual(YES_NO, false, {
    field: 'spa',
    flags: '--spa',
    help: 'answer paths without a file and without an extension with index.html, for single-page applications',
  }),
  hidden: usual(YES_NO, false, {
    field: 'hidden',
    flags: '--hidden',
    help: 'also serve names that begin with a dot',
  }),
  cache: usual(YES_NO, false, {
    field: 'cache',
    flags: '--cache',
    help: 'let the relay store a copy and serve it at the canonical URL while svc is away; the relay can read the traffic there',
  }),
  cacheTtl: optional(COUNT, {
    field: 'cache_ttl',
    flags: '--cache-ttl <seconds>',
    help: 'how long it serves the copy then [as long as the relay allows]',
  }),
}

/** @returns the values of the options in `fields`, which are the checked fields of svc.toml */
export function optionsIn<O extends object>(
  table: Table<O>,
  fields: Readonly<Record<string, unknown>>,
  path: (text: string) => string,
): O {
  const options: [string, TunnelOption<unknown, unknown>][] = Object.entries(table)
  const found = options.flatMap(([name, { field = '', kind, fallback }]) => {
    const given = fields[field]
    const value = given === undefined ? fallback : (kind.read?.(given as never, path) ?? given)
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(found) as O
}
