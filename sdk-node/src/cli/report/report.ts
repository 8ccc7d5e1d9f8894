// What `svc` reports: each is a JSON object in a line for machines, or a line of text for people.

import type {
  AgentRequest,
  CopyStatus,
  RelayStatus,
  TunnelStatus,
  WaitingStatus,
} from '../../agent/api-messages.ts'
import type { ProbeVerdict } from '../../probe/self-probe.ts'

/** A tunnel at one relay, with the name of the tunnel when it has one. */
export interface SiteStatus extends RelayStatus {
  tunnel?: string | undefined
}

export interface Addresses {
  url?: string | undefined
  canonical_url?: string | undefined
  tcp_address?: string | undefined
  udp_address?: string | undefined
}

/** The tunnel that a report is about, where it has a name, and the relay. */
interface Subject {
  tunnel?: string | undefined
  relay: string
}

export type Report =
  | ({ event: 'online' } & Subject & Addresses)
  /** Visitors cannot come yet, or not any more, until the relay lets them. */
  | ({ event: 'waiting' } & Subject & WaitingStatus)
  | ({ event: 'reconnecting' } & Subject)
  /** With `cache` when the relay keeps its copy of the files. */
  | ({ event: 'closed'; cache?: CopyStatus | undefined } & Subject)
  /** The relay has a copy of the site's files now, or has none any more. */
  | ({ event: 'cache'; canonical_url?: string | undefined } & Subject & CopyStatus)
  /** The tunnel goes on after this error. */
  | {
      event: 'error'
      tunnel?: string | undefined
      relay?: string | undefined
      code: string
      message: string
    }
  /** A visitor's request was answered: only where no live view shows it. */
  | ({ event: 'request' } & AgentRequest)
  /** So many reports before this one were left out: the reader of the output was too slow. */
  | { event: 'dropped'; count: number }
  /** The site visited itself, with this verdict. */
  | ({ event: 'probe'; verdict: ProbeVerdict } & Subject)
  /** The relay has a newer release than this `svc`. */
  | ({ event: 'update'; release_version: string; svc_version: string } & Subject)
  /** The last line of a command that did not do what it was to do. */
  | { event: 'failed'; code: string; message: string; exit_code: number }
  | { event: 'identity'; address: string; path: string }
  /** A site that runs on this machine. */
  | ({ event: 'status'; pid: number; started_at: string } & SiteStatus)
  /** No site runs on this machine. */
  | { event: 'idle' }
  | RelayReport
  | { event: 'config'; path: string }
  /** What svc remembers for all commands of the user; without a value: nothing any more. */
  | { event: 'setting'; key: string; value?: string | string[] | undefined }
  /** The same, where it was asked for. */
  | { event: 'value'; key: string; value: string | string[] }
  | AgentReport
  /** A tunnel of the agent that is at no relay. */
  | ({ event: 'tunnel' } & Pick<TunnelStatus, 'state' | 'failure' | 'retry_at'> & {
        tunnel?: string | undefined
      })
  /** The agent is a service of the system now, or no longer is one; the path is that of the file which describes it. */
  | { event: 'service'; state: 'installed' | 'removed'; path: string | undefined }
  /** The address of the agent's page, which it opens once. */
  | { event: 'page'; url: string; expires_at: string }
  /** What a visit of a URL from this machine sees. */
  | { event: 'doctor'; relay: string; url: string; verdict: DoctorVerdict; message: string }

/**
 * What a visit from this machine sees of a site's certificates. A relay may show other visitors something else.
 * - `own`: the site's own, as this machine keeps it
 * - `shared`: the relay's, and this machine keeps none for the site
 * - `cached`: the relay's, which ends TLS there for its copy of the site's files
 * - `other_certificate`: another one with the key that this machine keeps
 * - `other_chain`: the site's own, without a certificate of its authority
 * - `other_key`: one with another key than that which this machine keeps
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
  | 'untrusted'
  | 'unreachable'

/** The agent runs, or has ended. */
export interface AgentReport {
  event: 'agent'
  state: 'running' | 'stopped'
  url: string
  pid: number
  /** The path of svc.toml. */
  config: string
  /** Says why svc.toml could not be used when it was read last. */
  error?: string | undefined
}

export type RelayReport = { event: 'relay'; relay: string } & (
  | { healthy: true; protocol_version: string; release_version: string; rtt_ms: number }
  | { healthy: false; code: string; message: string }
)

export type Reporter = (report: Report) => void

/** Prints text as lines of standard output and of standard error. */
export interface Print extends Pick<Console, 'log' | 'error'> {
  /** @returns the bytes that were printed and wait for the reader; without it there are none */
  backlog?(printed: 'log' | 'error'): number
}
