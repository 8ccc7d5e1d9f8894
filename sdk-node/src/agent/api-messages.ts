// The control API of the local agent: its paths, and the JSON of each request and answer. It imports types alone, so that a page
// can import it, too.

import type { WaitingReason } from '@svc/sdk-core'
import type { ProbeVerdict } from '../probe/self-probe.ts'

/**
 * AGENT_PATH has the paths of the control API. Every body is JSON, and every answer has the envelope of the relay's API:
 * `{ok: true, data}`, or `{ok: false, error: {code, message}}` with a {@link AgentErrorCode}.
 *
 * Who may ask:
 * - *nobody in particular*: `challenge`, `login`, `redeem`, and `authStatus`, which says who asks.
 * - *reader*: a wallet that signed in. It may read `status`, and end its own sign-in with `logout`.
 * - *owner*: the bearer token of `agent-endpoint.json` in the state directory, or a sign-in that was got with it by `ticket` and
 *   `redeem`. It may do everything.
 *
 * Both send `Authorization: Bearer TOKEN`. There are no cookies, which a browser would send to every port of this machine. A
 * request whose `Host` or `Origin` is not the agent's own is refused whatever its token is.
 *
 * The page of the agent gets its token in two ways, and keeps it in `sessionStorage`. `svc agent open` asks `ticket` with the
 * bearer token, and prints the page's address with `#ticket=TICKET`; the page takes the ticket out of its address and sends it to
 * `redeem`. A ticket works once and for a minute, so that what is left of it in a process list or a history is of no use. Or a
 * wallet signs in: `challenge`, `personal_sign` of `siwe_message`, `login`.
 */
export const AGENT_PATH = {
  /** POST {@link WalletChallengeRequest}, answer {@link WalletChallenge}. */
  challenge: '/agent/auth/challenge',
  /** POST {@link WalletLoginRequest}, answer {@link SignIn}. */
  login: '/agent/auth/login',
  /** POST `{}`, answer `{}`. It ends the sign-in whose token it is sent with. The bearer token of the file stays. */
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
  /** Owner. POST {@link AddTunnelRequest}, answer `{}` as soon as svc.toml has it; `status` says what becomes of it. */
  addTunnel: '/agent/tunnels/add',
  /** Owner. POST {@link ChangeTunnelRequest}, answer `{}`. */
  changeTunnel: '/agent/tunnels/change',
  /** Owner. POST {@link TunnelRequestBody}, answer `{}`. The identity's file of the tunnel stays. */
  removeTunnel: '/agent/tunnels/remove',
  /** Owner. POST {@link TunnelRequestBody}, answer `{}`. A paused tunnel has `paused = true` in svc.toml, and stays so. */
  pauseTunnel: '/agent/tunnels/pause',
  /** Owner. POST {@link TunnelRequestBody}, answer `{}`. It also starts a tunnel again that had ended. */
  resumeTunnel: '/agent/tunnels/resume',
  /** Owner. POST {@link RelayRequestBody}, answer `{}`. */
  connectRelay: '/agent/relays/connect',
  /** Owner. POST {@link RelayRequestBody}, answer `{}`. The last relay of a tunnel is refused. */
  disconnectRelay: '/agent/relays/disconnect',
  /** Owner. POST `{}`, answer `{}`. It reads svc.toml again; tunnels that are the same keep their sessions. */
  reload: '/agent/reload',
  /** Owner. POST `{}`, answer `{}`; then the agent takes its tunnels off their relays and ends. */
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
  /** The token is missing, wrong or over; or the challenge, the ticket or the signature is not good. */
  unauthorized: 401,
  /** A reader asked for what an owner may do, or the wallet is not one of `agent.allowed_wallets`. */
  forbidden: 403,
  /** `Origin` is that of another page. */
  forbidden_origin: 403,
  /** There is nothing at this path. */
  not_found: 404,
  /** There is no tunnel of that name. */
  tunnel_not_found: 404,
  /** The path takes another method. */
  method_not_allowed: 405,
  /** svc.toml was edited since the agent read it: nothing was written. `reload` first. */
  config_changed: 409,
  /** The body has more bytes than the agent takes. */
  too_large: 413,
  /** The body is not `application/json`. */
  unsupported_media_type: 415,
  /** `Host` is not the agent's own. */
  misdirected_request: 421,
  /** There are too many sign-ins at once. */
  rate_limited: 429,
  /** svc.toml is broken, or cannot be written; the message says where or why. */
  config_unusable: 422,
  /** Something that this list does not foresee; the log has it. */
  internal: 500,
} as const

export type AgentErrorCode = keyof typeof AGENT_ERROR_STATUS

export type AgentAnswer<Data> =
  | { ok: true; data: Data }
  | { ok: false; error: { code: AgentErrorCode; message: string } }

/** Asks for a message that a wallet signs to sign in. */
export interface WalletChallengeRequest {
  /** The wallet's address: `0x` and 40 hexadecimal digits, in any case. */
  address: string
}

export interface WalletChallenge {
  /** It proves that the agent issued this very message. */
  challenge_id: string
  /** The Sign-In with Ethereum message (EIP-4361), to be signed by `personal_sign` as it is. */
  siwe_message: string
  /** Two minutes later (RFC 3339). */
  expires_at: string
}

export interface WalletLoginRequest {
  challenge_id: string
  siwe_message: string
  /** `0x` and 130 hexadecimal digits. */
  siwe_signature: string
}

/** A sign-in, which lasts for 24 hours at most, and no longer than the agent runs. */
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
  /** A minute later (RFC 3339). */
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

/** The tunnels of the agent. A reader sees it, too, so that it has no path of a file but that of svc.toml, and no secret. */
export interface AgentStatus {
  pid: number
  started_at: string
  release_version: string
  /** The address of the control API, without a path. */
  url: string
  /** Says whether `svc agent run` put it into the background. If not, a terminal or a service of the system runs it. */
  detached: boolean
  config: ConfigStatus
  /** In the order of svc.toml; those that were removed and are still ending come last. */
  tunnels: TunnelStatus[]
  /** The last requests of visitors, the oldest first, 100 at most. */
  requests: AgentRequest[]
  /** Errors of the last half minute after which a tunnel goes on, such as a target that does not answer, the oldest first. */
  errors: TunnelError[]
}

interface ConfigStatus {
  path: string
  /** Says why the file could not be used when it was read last; what ran before goes on. Undefined when all is well. */
  error?: string | undefined
}

export interface TunnelStatus {
  /** Undefined for the one tunnel whose identity makes its name. */
  name?: string | undefined
  /**
   * - `paused`: svc.toml says so.
   * - `starting`: no relay has taken it yet.
   * - `running`: at least one relay has taken it.
   * - `ending`: it gives its leases up.
   * - `ended`: it ended or could not begin, for the reason in `failure`. With `retry_at` the agent tries again.
   */
  state: 'paused' | 'starting' | 'running' | 'ending' | 'ended'
  /** The services behind it, as svc.toml names them. A folder is shown by its last part alone. */
  target: string
  /** The relays that are named for it. */
  named_relays: string[]
  failure?: Failure | undefined
  /** The time of the next attempt (RFC 3339). */
  retry_at?: string | undefined
  /** The tunnel at each relay. */
  relays: RelayStatus[]
}

/** The code of an error and what it means. */
export interface Failure {
  code: string
  message: string
}

/** The reason for which visitors cannot come, and the time of the next attempt (RFC 3339). */
export interface WaitingStatus {
  reason: WaitingReason
  until?: string | undefined
}

/** The relay's copy of the site's files. */
export interface CopyStatus {
  present: boolean
  /** The time at which the relay stops showing it if it never hears from the site again (RFC 3339); undefined where there is none. */
  expires_at?: string | undefined
}

/** A tunnel at one relay: its addresses, its state and its figures since it began. */
export interface RelayStatus {
  relay: string
  /** The site's URL; undefined until the relay granted it, and where nothing answers there. */
  url?: string | undefined
  canonical_url?: string | undefined
  tcp_address?: string | undefined
  udp_address?: string | undefined
  state: 'connecting' | 'online' | 'waiting' | 'reconnecting' | 'closed' | 'failed'
  waiting?: WaitingStatus | undefined
  failure?: Failure | undefined
  /** Milliseconds of the last round trip to the relay. */
  rtt_ms?: number | undefined
  /** Connections that visitors have now. */
  connections: number
  reconnects: number
  bytes_in: number
  bytes_out: number
  /** The verdict of the site's last visit to itself. */
  probe?: ProbeVerdict | undefined
  /** Undefined for a site without `cache`. */
  cache?: CopyStatus | undefined
}

/** A visitor's request, and the tunnel that it came by. */
export interface AgentRequest {
  tunnel?: string | undefined
  method: string
  /** The path without its query, which may hold secrets of the visitor; undefined for a reader, whom it does not concern. */
  path?: string | undefined
  status: number
  /** Milliseconds until the head of the response was there. */
  ms: number
}

/** An error after which the tunnel goes on. */
export interface TunnelError extends Failure {
  tunnel?: string | undefined
  relay?: string | undefined
}

/** The fields of svc.toml as they stand in the file. */
export interface AgentConfig {
  path: string
  /** The fields at the head of the file, which hold for each tunnel that has not its own. */
  shared: TunnelSettings
  /** The fields of each `[[tunnel]]`. */
  tunnels: TunnelSettings[]
}

/** Fields of svc.toml, by their names there: `svc config init` writes a file that explains each. */
export type TunnelSettings = Record<string, SettingValue>

export type SettingValue = string | number | boolean | string[] | Record<string, string | number>

export interface AddTunnelRequest {
  /** The fields of the new `[[tunnel]]`. */
  settings: TunnelSettings
}

export interface ChangeTunnelRequest {
  /** The name of the tunnel, which no change changes; undefined for the one that has none. */
  name?: string | undefined
  /** The fields to set; null takes a field out of the tunnel. Others stay. */
  settings: Record<string, SettingValue | null>
}

export interface TunnelRequestBody {
  /** The name of the tunnel; undefined for the one that has none. */
  name?: string | undefined
}

export interface RelayRequestBody {
  /** The URL of the relay. */
  relay: string
  /**
   * The name of the tunnel, which gets a list of relays of its own. Undefined: the relays at the head of svc.toml, which tunnels
   * with a list of their own do not use.
   */
  name?: string | undefined
}

export interface AgentLogs {
  /** The last lines of the log, the oldest first, each a JSON object with `time`. */
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
