// The reports of `svc`: each is a JSON line for machines, or a line of text for people.

import type {
  AgentFlow,
  AgentKnock,
  AgentRequest,
  AgentShare,
  CopyStatus,
  DomainStatus,
  RelayStatus,
  TunnelStatus,
  WaitingStatus,
} from '../../agent/api-messages.ts'
import type { RecordFinding } from '../../domain-records/check-records.ts'
import type { WantedRecord } from '../../domain-records/wanted-records.ts'
import type { HoldReport } from '../../hold/hold.ts'
import type { ProbeVerdict } from '../../probe/self-probe.ts'

/** A tunnel at one relay, with its name if it has one. */
export interface SiteStatus extends RelayStatus {
  tunnel?: string | undefined
  targets?: Targets | undefined
}

export interface Addresses {
  url?: string | undefined
  canonical_url?: string | undefined
  /** The relay's link to the site, with a page that waits for it while it is away. */
  share_url?: string | undefined
  tcp_address?: string | undefined
  udp_address?: string | undefined
}

/** The local services of a tunnel: what its addresses lead to. */
export interface Targets {
  /** The server or folder behind the URL. */
  url?: string | undefined
  /** The servers and folders of routes, by their places. */
  routes?: Readonly<Record<string, string>> | undefined
  tcp?: string | undefined
  udp?: string | undefined
}

/** The tunnel of a report, if it has a name, and the relay. */
interface Subject {
  tunnel?: string | undefined
  relay: string
}

/** A report of one visitor, of which there may be many. */
export type VisitorReport = Extract<Report, { event: 'request' | 'flow' | 'held' }>

/** A UDP service has a new visitor. */
export interface FlowReport extends AgentFlow {
  event: 'flow'
}

/** A request that came while the target was down was kept, delivered or lost. */
export interface HeldReport extends HoldReport {
  event: 'held'
  tunnel?: string | undefined
}

export type Report =
  /** Has `inspector` when requests are recorded: the address of its page, which signs in once, within a minute. */
  | ({ event: 'online'; targets?: Targets | undefined; inspector?: string | undefined } & Subject & Addresses)
  /** Visitors cannot connect until the relay lets them. */
  | ({ event: 'waiting' } & Subject & WaitingStatus)
  | ({ event: 'reconnecting' } & Subject)
  /** Has `cache` when the relay keeps its copy of the files. */
  | ({ event: 'closed'; cache?: CopyStatus | undefined } & Subject)
  /** The relay now has, or no longer has, a copy of the site's files. */
  | ({ event: 'cache'; canonical_url?: string | undefined } & Subject & CopyStatus)
  /** An error that does not end the tunnel. With `target`, it stands until that is `resolved`. */
  | {
      event: 'error'
      tunnel?: string | undefined
      relay?: string | undefined
      target?: string | undefined
      code: string
      message: string
    }
  /** A target that could not be reached can be reached again. */
  | { event: 'resolved'; tunnel?: string | undefined; target: string; code: string }
  /** A visitor's request was answered. Only reported without a live view. */
  | ({ event: 'request' } & AgentRequest)
  | FlowReport
  | HeldReport
  | KnockReport
  /** Nobody waits to be let in. */
  | { event: 'nobody_waits' }
  /** The owner's answer to a visitor who knocked. */
  | { event: 'answered'; code: string; admitted: boolean; always: boolean }
  | SharedReport
  | ShareReport
  /** There is no share link. */
  | { event: 'no_shares' }
  /** A share link was withdrawn. */
  | { event: 'withdrawn'; id: string }
  /** This many earlier reports were dropped because the reader of the output was too slow. */
  | { event: 'dropped'; count: number }
  /** The verdict of a self-probe; with `domain`, of a visit there. */
  | ({ event: 'probe'; domain?: string | undefined; verdict: ProbeVerdict } & Subject)
  /** The relay has a newer release than this `svc`. */
  | ({ event: 'update'; release_version: string; svc_version: string } & Subject)
  /** The last line of a command that failed. */
  | { event: 'failed'; code: string; message: string; exit_code: number }
  | DemoReport
  | { event: 'identity'; address: string; path: string }
  | SentReport
  /** The script of a shell. */
  | { event: 'completion'; script: string }
  | DomainReport
  /** The hash of a password. */
  | { event: 'hash'; hash: string }
  /** A running site of this machine. */
  | ({ event: 'status'; pid: number; started_at: string } & SiteStatus)
  /** No site is running on this machine. */
  | { event: 'idle' }
  | RelayReport
  | { event: 'config'; path: string }
  /** A remembered setting of the user; without a value, it was removed. */
  | { event: 'setting'; key: string; value?: string | string[] | undefined }
  /** The same, as the answer to `svc config get`. */
  | { event: 'value'; key: string; value: string | string[] }
  | AgentReport
  /** A tunnel of the agent without a relay. */
  | ({ event: 'tunnel' } & Pick<TunnelStatus, 'state' | 'failure' | 'retry_at'> & {
        tunnel?: string | undefined
      })
  /** The agent was installed or removed as a system service; the path is that of the service's file. */
  | { event: 'service'; state: 'installed' | 'removed'; path: string | undefined }
  /** The one-time URL of the agent's page. */
  | { event: 'page'; url: string; expires_at: string }
  | DoctorReport

/** The certificate that a visit from this machine sees. */
export interface DoctorReport {
  event: 'doctor'
  relay: string
  url: string
  verdict: DoctorVerdict
  message: string
  /** Its serial number, end and issuer; undefined when none was seen. */
  certificate?: string | undefined
  /** What to do; undefined when nothing is wrong. */
  advice?: string | undefined
}

/**
 * Which certificate a visit from this machine sees. A relay may present others to other visitors.
 * - `own`: the site's own, as stored on this machine
 * - `shared`: the relay's; this machine stores none for the site
 * - `cached`: the relay's, which terminates TLS for its copy of the site's files
 * - `other_certificate`: another one with the stored key
 * - `other_chain`: the site's own, without a certificate of its CA
 * - `other_key`: one with another key than the stored one
 * - `suspected`: at a custom domain, one with another key than the site's
 * - `untrusted`: one that clients refuse
 * - `unreachable`: none
 */
export type DoctorVerdict =
  | 'own'
  | 'shared'
  | 'cached'
  | 'other_certificate'
  | 'other_chain'
  | 'other_key'
  | 'suspected'
  | 'untrusted'
  | 'unreachable'

/** The verdicts that mean no problem. */
export const HEALTHY_VERDICTS: ReadonlySet<DoctorVerdict> = new Set(['own', 'shared', 'cached'])

/** The agent runs, or has ended. */
export interface AgentReport {
  event: 'agent'
  state: 'running' | 'stopped'
  url: string
  pid: number
  /** The path of svc.toml. */
  config: string
  /** Why svc.toml could not be used when it was last read. */
  error?: string | undefined
}

/** A visitor waits to be let in. */
export interface KnockReport extends AgentKnock {
  event: 'knock'
}

/** A new share link: no other report has its URL, and so its secret. */
type SharedReport = { event: 'shared'; url: string } & Pick<
  AgentShare,
  'tunnel' | 'id' | 'once' | 'until' | 'note'
>

/** A share link, without its secret. */
export type ShareReport = { event: 'share' } & AgentShare
/** Of `svc webhook`. */
export type SentReport =
  /** A webhook that can be sent. */
  | { event: 'webhook'; sender: string; name: string }
  /** The public key with which the receiver checks what is sent. */
  | { event: 'public_key'; key: string }
  /** A webhook was sent, and answered. */
  | { event: 'sent'; sender: string; name: string; url: string; status: number; ms: number }

/** The state of a custom domain of a site. */
export interface DomainStateReport extends DomainStatus {
  event: 'domain'
  tunnel?: string | undefined
  relay: string
}

/** Of `svc domain`, and the state of a site's domain. */
export type DomainReport =
  | DomainStateReport
  /** A record to set. */
  | ({ event: 'domain_record'; domain: string; alternative: boolean } & WantedRecord)
  | ({ event: 'domain_check'; domain: string } & RecordFinding)
  | ({ event: 'domain_change'; domain: string; change: 'kept' | 'planned' | 'added' } & WantedRecord)

export type DemoReport =
  /** The page of `svc demo` is online. */
  | { event: 'demo'; url: string }
  /** A visitor opened it, or said something there. */
  | { event: 'visited'; visit: number; browser: string; said?: string }

export type RelayReport = { event: 'relay'; relay: string } & (
  | {
      healthy: true
      protocol_version: string
      release_version: string
      rtt_ms: number
      /** Present where nobody new registers without an invitation. */
      invitation?: true
    }
  | { healthy: false; code: string; message: string }
)

export type Reporter = (report: Report) => void

/** Prints lines to standard output and standard error. */
export interface Print extends Pick<Console, 'log' | 'error'> {
  /** @returns the printed bytes that wait for the reader. Omitted when there never are any */
  backlog?(printed: 'log' | 'error'): number
  /** @returns the width of the terminal; undefined for no terminal. Omitted when there never is one */
  columns?(printed: 'log' | 'error'): number | undefined
}
