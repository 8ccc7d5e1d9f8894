// The control API of the local agent: its paths, and the JSON of each request and answer. It imports only types, so that a page
// can import it too.

import type { WaitingReason } from '@svc/sdk-core'
import type { ProbeVerdict } from '../probe/self-probe.ts'

/** LOG_LINES_MAX is the most log lines in one answer. */
export const LOG_LINES_MAX = 1000
/** LOG_LINES_DEFAULT is the number of log lines in an answer to a request that names none. */
export const LOG_LINES_DEFAULT = 100

/**
 * AGENT_PATH has the paths of the control API. Every body is JSON, and every answer has the envelope of the relay's API:
 * `{ok: true, data}`, or `{ok: false, error: {code, message}}` with a {@link AgentErrorCode}.
 *
 * Who may call:
 * - *anybody*: `challenge`, `login`, `redeem`, and `authStatus`, which identifies the caller.
 * - *reader*: a wallet that signed in. It may read `status`, and end its own sign-in with `logout`.
 * - *owner*: the bearer token in `agent-endpoint.json` in the state directory, or a sign-in obtained with it by `ticket` and
 *   `redeem`. It may call everything.
 *
 * Both send `Authorization: Bearer TOKEN`. There are no cookies, because a browser would send them to every port of this machine. A
 * request whose `Host` or `Origin` is not the agent's own is refused with any token.
 *
 * The agent's page gets its token in two ways, and keeps it in `sessionStorage`. `svc agent open` calls `ticket` with the
 * bearer token, and prints the page's address with `#ticket=TICKET`; the page takes the ticket out of its address and sends it to
 * `redeem`. A ticket works once and expires after a minute, so it is useless in a process list or a history. Or a
 * wallet signs in: `challenge`, `personal_sign` of `siwe_message`, `login`.
 */
export const AGENT_PATH = {
  /** POST {@link WalletChallengeRequest}, answer {@link WalletChallenge}. */
  challenge: '/agent/auth/challenge',
  /** POST {@link WalletLoginRequest}, answer {@link SignIn}. */
  login: '/agent/auth/login',
  /** POST `{}`, answer `{}`. Ends the sign-in of the request's token. The bearer token of the file remains valid. */
  logout: '/agent/auth/logout',
  /** GET, answer {@link AuthStatus}. */
  authStatus: '/agent/auth/status',
  /** Owner. POST `{}`, answer {@link Ticket}. */
  ticket: '/agent/auth/ticket',
  /** POST {@link RedeemRequest}, answer {@link SignIn}. */
  redeem: '/agent/auth/redeem',
  /** Reader or owner. GET, answer {@link AgentStatus}. */
  status: '/agent/status',
  /** Owner. GET, answer {@link AgentConfig}. */
  config: '/agent/config',
  /** Owner. POST {@link AddTunnelRequest}, answer `{}` as soon as svc.toml has it; `status` shows its progress. */
  addTunnel: '/agent/tunnels/add',
  /** Owner. POST {@link ChangeTunnelRequest}, answer `{}`. */
  changeTunnel: '/agent/tunnels/change',
  /** Owner. POST {@link TunnelRequestBody}, answer `{}`. The tunnel's identity file is kept. */
  removeTunnel: '/agent/tunnels/remove',
  /** Owner. POST {@link TunnelRequestBody}, answer `{}`. A paused tunnel has `paused = true` in svc.toml. */
  pauseTunnel: '/agent/tunnels/pause',
  /** Owner. POST {@link TunnelRequestBody}, answer `{}`. It also restarts a tunnel that has ended. */
  resumeTunnel: '/agent/tunnels/resume',
  /** Owner. POST {@link RelayRequestBody}, answer `{}`. */
  connectRelay: '/agent/relays/connect',
  /** Owner. POST {@link RelayRequestBody}, answer `{}`. The last relay of a tunnel is refused. */
  disconnectRelay: '/agent/relays/disconnect',
  /** Owner. POST {@link RecordTunnelRequest}, answer `{}`. It lasts until the agent ends: `inspect` in svc.toml is for every start. */
  recordTunnel: '/agent/tunnels/record',
  /** Owner. POST {@link AnswerKnockRequest}, answer `{}`. */
  answerKnock: '/agent/knocks/answer',
  /** Owner. GET, answer {@link AgentShares}. */
  shares: '/agent/shares',
  /** Owner. POST {@link MakeShareRequest}, answer {@link MadeShare}, which alone has the URL of the link with its secret. */
  makeShare: '/agent/shares/make',
  /** Owner. POST {@link WithdrawShareRequest}, answer `{}`. */
  withdrawShare: '/agent/shares/withdraw',
  /** Owner. POST `{}`, answer `{}`. Reads svc.toml again; unchanged tunnels keep their sessions. */
  reload: '/agent/reload',
  /** Owner. POST `{}`, answer `{}`; then the agent ends its tunnels and exits. */
  shutdown: '/agent/shutdown',
  /** Owner. GET with `?lines=N` (1 to 1000, 100 by default), answer {@link AgentLogs}. */
  logs: '/agent/logs',
} as const

/** AgentErrorCode is a code of the envelope's error, with its HTTP status. */
export const AGENT_ERROR_STATUS = {
  /** The body is not JSON. */
  invalid_json: 400,
  /** The body's shape, a field of it, or the tunnel that it describes is wrong; the message says where. */
  invalid_request: 400,
  /** The token is missing, wrong or expired; or the challenge, the ticket or the signature is invalid. */
  unauthorized: 401,
  /** A reader called what only the owner may, or the wallet is not in `agent.allowed_wallets`. */
  forbidden: 403,
  /** `Origin` is another page's. */
  forbidden_origin: 403,
  /** There is nothing at this path. */
  not_found: 404,
  /** There is no tunnel of that name. */
  tunnel_not_found: 404,
  /** There is no such entry of the inspector: it was dropped, or is of another run. */
  entry_not_found: 404,
  /** Nobody, or more than one, with that number waits. */
  knock_not_found: 404,
  /** There is no share link with that id. */
  share_not_found: 404,
  /** The path takes another method. */
  method_not_allowed: 405,
  /** svc.toml was edited after the agent read it, so nothing was written. `reload` first. */
  config_changed: 409,
  /** Nothing records requests. */
  inspector_off: 409,
  /** The body is larger than the agent accepts. */
  too_large: 413,
  /** The body is not `application/json`. */
  unsupported_media_type: 415,
  /** `Host` is not the agent's own. */
  misdirected_request: 421,
  /** There are too many concurrent sign-ins. */
  rate_limited: 429,
  /** svc.toml is invalid or cannot be written; the message says where or why. */
  config_unusable: 422,
  /** Another error, which is in the log. */
  internal: 500,
} as const

export type AgentErrorCode = keyof typeof AGENT_ERROR_STATUS

export type AgentAnswer<Data> =
  | { ok: true; data: Data }
  | { ok: false; error: { code: AgentErrorCode; message: string } }

/** Requests a message for a wallet to sign. */
export interface WalletChallengeRequest {
  /** The wallet's address: `0x` and 40 hexadecimal digits, in any case. */
  address: string
}

export interface WalletChallenge {
  /** Proves that the agent issued exactly this message. */
  challenge_id: string
  /** The Sign-In with Ethereum message (EIP-4361), to be signed unchanged by `personal_sign`. */
  siwe_message: string
  /** Two minutes from now (RFC 3339). */
  expires_at: string
}

export interface WalletLoginRequest {
  challenge_id: string
  siwe_message: string
  /** `0x` and 130 hexadecimal digits. */
  siwe_signature: string
}

/** A sign-in, which lasts at most 24 hours, and no longer than the agent runs. */
export interface SignIn {
  access_token: string
  role: Role
  /** The end of the sign-in (RFC 3339). */
  expires_at: string
}

export type Role = 'owner' | 'reader'

export interface Ticket {
  ticket: string
  /** The address of the agent's page with the ticket. */
  url: string
  /** A minute from now (RFC 3339). */
  expires_at: string
}

export interface RedeemRequest {
  ticket: string
}

export interface AuthStatus {
  authenticated: boolean
  /** Undefined when nobody is signed in. */
  role?: Role | undefined
  /** The wallet that signed in, in EIP-55 case. */
  address?: string | undefined
  /** Undefined for the bearer token of the file, which lasts as long as the agent. */
  expires_at?: string | undefined
}

/** The tunnels of the agent. Readers see it too, so it has no secrets, and no file path except that of svc.toml. */
export interface AgentStatus {
  pid: number
  started_at: string
  release_version: string
  /** The address of the control API, without a path. */
  url: string
  /** True when `svc agent run` put it into the background. Otherwise a terminal or a system service runs it. */
  detached: boolean
  config: ConfigStatus
  /** In the order of svc.toml; removed ones that are still ending come last. */
  tunnels: TunnelStatus[]
  /** The last requests of visitors, oldest first, at most 100. */
  requests: AgentRequest[]
  /** The last visitors of UDP services, oldest first, at most 100 of these and of requests together; none for readers. */
  flows: AgentFlow[]
  /** The visitors who wait to be let in, oldest first; none for readers. */
  knocks: AgentKnock[]
  /** Errors that do not end a tunnel, oldest first: those of the last half minute, and targets at which nothing listens. */
  errors: TunnelError[]
}

interface ConfigStatus {
  path: string
  /** Why the file could not be used when it was last read; the running tunnels continue. Undefined when the file is valid. */
  error?: string | undefined
}

export interface TunnelStatus {
  /** Undefined for the one tunnel whose name is derived from its identity. */
  name?: string | undefined
  /**
   * - `paused`: svc.toml says so.
   * - `starting`: no relay has accepted it yet.
   * - `running`: at least one relay has accepted it.
   * - `ending`: it unregisters its leases.
   * - `ended`: it ended or could not start, for the reason in `failure`. With `retry_at`, the agent tries again.
   */
  state: 'paused' | 'starting' | 'running' | 'ending' | 'ended'
  /** The services behind it, as svc.toml names them. For a folder, only the last part of its path. */
  target: string
  /** The relays that svc.toml names for it. */
  named_relays: string[]
  failure?: Failure | undefined
  /** The time of the next attempt (RFC 3339). */
  retry_at?: string | undefined
  /** Whether it is online and can be shared by links: its visitors have to show who they are. */
  can_be_shared: boolean
  /** Whether the inspector records its requests. Undefined where it sees none, and before the tunnel has started. */
  recorded?: boolean | undefined
  /** The tunnel at each relay. */
  relays: RelayStatus[]
}

/** An error: its code and message. */
export interface Failure {
  code: string
  message: string
}

/** Why visitors cannot connect, and the time of the next attempt (RFC 3339). */
export interface WaitingStatus {
  reason: WaitingReason
  until?: string | undefined
}

/** The relay's copy of the site's files. */
export interface CopyStatus {
  present: boolean
  /** When the relay stops serving it if it does not hear from the site again (RFC 3339); undefined when there is no copy. */
  expires_at?: string | undefined
}

/** A tunnel at one relay: its addresses, its state and its figures since it began. */
export interface RelayStatus {
  relay: string
  /** The site's URL; undefined until the relay has granted it, and when nothing answers there. */
  url?: string | undefined
  canonical_url?: string | undefined
  /** The relay's link to the site, with a page that waits for it while it is away; undefined where the relay has none. */
  share_url?: string | undefined
  tcp_address?: string | undefined
  udp_address?: string | undefined
  state: 'connecting' | 'online' | 'waiting' | 'reconnecting' | 'closed' | 'failed'
  waiting?: WaitingStatus | undefined
  failure?: Failure | undefined
  /** The last round trip to the relay, in milliseconds. */
  rtt_ms?: number | undefined
  /** The current number of visitors' connections. */
  connections: number
  reconnects: number
  bytes_in: number
  bytes_out: number
  /** The verdict of the last self-probe. */
  probe?: ProbeVerdict | undefined
  /** Undefined for a site without `cache`. */
  cache?: CopyStatus | undefined
  /** Undefined for a site without `domains`. */
  domains?: DomainStatus[] | undefined
}

/** What a custom domain of a site has, and what it lacks. */
export interface DomainStatus {
  domain: string
  /** Whether visitors can connect to it. */
  online: boolean
  /** What the relay says of its DNS records. */
  state: 'pending' | 'active' | 'refused'
  reason?: string | undefined
  /** The records to set. */
  records: readonly { type: string; name: string; value: string }[]
  certificate: 'missing' | 'ordering' | 'valid' | 'failed'
  /** The end of the certificate (RFC 3339). */
  expires_at?: string | undefined
  /** Why the last order failed. */
  error?: string | undefined
  /** Whether only this site's account may get certificates. */
  protected: boolean
  /** Why it is not. */
  unprotected?: string | undefined
  /** The verdict of the last visit of the site to itself there. */
  probe?: ProbeVerdict | undefined
}

/** A visitor's request, and its tunnel. */
export interface AgentRequest {
  tunnel?: string | undefined
  method: string
  /** The path without its query, which may contain secrets of the visitor; undefined for readers. */
  path?: string | undefined
  status: number
  /** The visitor's address, or its network such as `203.0.113.0/24`. Undefined when unknown or not wanted. */
  address?: string | undefined
  /** The time until the head of the response, in milliseconds. */
  ms: number
  /** What was found out about the signature of a webhook; undefined for readers. */
  webhook?: AgentWebhook | undefined
}

/** What was found out about a webhook's signature. */
export interface AgentWebhook {
  sender: string
  result: 'valid' | 'invalid' | 'expired' | 'unchecked'
  code: string
  /** The reason, as a sentence. */
  reason: string
  /** The seconds since it was signed, by this machine's clock. Undefined when the sender signs no time. */
  age_seconds?: number | undefined
}

/** A flow: the datagrams of one visitor to a UDP service. */
export interface AgentFlow {
  tunnel?: string | undefined
  /** The visitor's address, or its network. Undefined when unknown or not wanted. */
  address?: string | undefined
  /** The visitor's port, with its whole address. */
  port?: number | undefined
  /** The port of this machine from which the service gets the visitor's datagrams. */
  local_port: number
}

/** A visitor who waits to be let in, and its tunnel. */
export interface AgentKnock {
  tunnel?: string | undefined
  /** Four digits that the visitor sees too. */
  code: string
  /** The visitor's address. Undefined when unknown. */
  address?: string | undefined
  /** The browser and system, by the visitor's own word. */
  browser: string
  /** The path without its query. */
  path: string
  /** The time of the knock (RFC 3339). */
  since: string
}

/** A share link of a tunnel, without its secret, which nobody has but those who were given the link. */
export interface AgentShare {
  tunnel?: string | undefined
  id: string
  /** What its owner wrote about it; empty for none. */
  note: string
  /** It signs in once. */
  once: boolean
  /** Its end (RFC 3339). Undefined for never. */
  until?: string | undefined
  created_at: string
  /** How often somebody signed in with it. */
  uses: number
  /** The last sign-in (RFC 3339). */
  used_at?: string | undefined
  /** The address of the last sign-in. Undefined when unknown, or before the last start of the tunnel. */
  address?: string | undefined
}

/** The share links of all running tunnels, in the order in which they were made. */
export interface AgentShares {
  shares: AgentShare[]
}

/** A new share link. */
export interface MadeShare extends AgentShare {
  /** Its URL with the secret. Only this answer has it. */
  url: string
}

export interface MakeShareRequest extends TunnelRequestBody {
  /** A time from now such as `2h`, or a date. Undefined: it does not end by itself. */
  until?: string | undefined
  /** Whether it signs in once; false by default. */
  once?: boolean | undefined
  note?: string | undefined
  /** The path at which the visitor arrives; `/` by default. */
  path?: string | undefined
}

export interface WithdrawShareRequest {
  id: string
}

/** An error that does not end the tunnel. */
export interface TunnelError extends Failure {
  tunnel?: string | undefined
  relay?: string | undefined
}

/** The fields of svc.toml, as written in the file, with `true` in place of each secret. */
export interface AgentConfig {
  path: string
  /** The fields at the head of the file: defaults for all tunnels. */
  shared: TunnelSettings
  /** The fields of each `[[tunnel]]`. */
  tunnels: TunnelSettings[]
}

/** Fields of svc.toml, by their names there: `svc config init` writes a file that explains each. */
export type TunnelSettings = Record<string, SettingValue>

type PlainValue = string | number | boolean | string[]

/** A table of a tunnel, such as `access`, may have the table `users`. */
export type SettingValue = PlainValue | Record<string, PlainValue | Record<string, string | boolean>>

/**
 * The fields of `[tunnel.access]` to set; null removes a field, or a user. Others are kept. Passwords are stored as hashes, unless they
 * are `file:PATH`, `env:NAME` or a hash.
 */
export type AccessChanges = Record<string, PlainValue | Record<string, string | null> | null>

export interface AddTunnelRequest {
  /** The fields of the new `[[tunnel]]`. */
  settings: TunnelSettings
}

export interface ChangeTunnelRequest {
  /** The name of the tunnel, which cannot be changed; undefined for the one without a name. */
  name?: string | undefined
  /** The fields to set; null removes a field. Others are kept, also in the table `access`. */
  settings: Record<string, SettingValue | AccessChanges | null>
}

export interface TunnelRequestBody {
  /** The name of the tunnel; undefined for the one without a name. */
  name?: string | undefined
}

export interface RecordTunnelRequest extends TunnelRequestBody {
  /** Whether the inspector records its requests from now on. */
  record: boolean
}

export interface AnswerKnockRequest {
  /** The four digits of the visitor. */
  code: string
  /** Lets the visitor in, or refuses it. */
  admit: boolean
  /** The answer is valid for as long as the site runs, and not once. */
  always: boolean
}

export interface RelayRequestBody {
  /** The URL of the relay. */
  relay: string
  /**
   * The name of the tunnel, which gets its own list of relays. Undefined: the relays at the head of svc.toml, which tunnels
   * with their own list do not use.
   */
  name?: string | undefined
}

export interface AgentLogs {
  /** The last lines of the log, oldest first, each a JSON object with `time`. */
  lines: string[]
}

/** The content of `agent-endpoint.json` in the state directory, which only its owner may read (0600). */
export interface AgentEndpoint {
  /** The address of the control API, without a path. */
  url: string
  /** The bearer token, new at each start of the agent. */
  token: string
  pid: number
  started_at: string
  release_version: string
}
