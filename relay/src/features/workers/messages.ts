// Defines the messages between the processes of a relay. Each arrives whole and in order, some with a socket.

import type { Identity } from '@svc/protocol'
import type { Traffic } from '../../core/bridge/visitors.ts'
import type { PeekedHello } from '../../core/ingress/client-hello.ts'
import type { Lease, LeaseDomains, LeaseEnd } from '../../core/lease/lease.ts'
import type { LeasePreferences } from '../../core/lease/lease-preferences.ts'
import type { CounterDelta } from '../../core/metrics/relay-counters.ts'
import type { PolicyFile } from '../../core/policy/policy-file.ts'
import type { TracedAddresses } from '../../core/reverse/pending-visitor.ts'
import type { SiteConnection } from '../../core/reverse/site-presence.ts'
import type { TrafficChange } from '../../core/traffic/traffic-changes.ts'

/** The first message to a worker process. Keys travel this way only, and not in arguments or environment variables. */
export interface WorkerStart {
  kind: 'begin'
  /** Index among all processes; the primary process has 0. */
  processIndex: number
  /** @see setClockOrigin */
  clockOrigin: number
  /** Number of processes. */
  processes: number
  /** @see LeaseTraffic.key */
  sketchKey: Uint8Array
  /** The first bytes of the process's bindings. */
  bindingMark: Uint8Array
  port: number
  /** The address at which it listens; undefined: every address. */
  host: string | undefined
  rootHost: string
  /** The ports that visitors may name. */
  ownPorts: readonly number[]
  /** Issuer of tokens. */
  issuer: string
  /** Key that verifies tokens: SubjectPublicKeyInfo, DER. */
  publicKey: Buffer
  certificates: CertificateFiles
  /** Whether the primary process may prove names to an ACME authority. */
  provesNames: boolean
  /** The only port at which peers of an overlay that the relay makes are served; undefined: it makes none. */
  overlayPort: number | undefined
  policy: PolicyFile
  trustedProxies: string
  logLevel: string
}

export interface CertificateFiles {
  chainPem: string
  keyPem: string
  /** Whether they are placeholders until the relay gets its certificate. */
  isPlaceholder: boolean
}

/** The part of a lease that its visitors and carriers need. */
export interface SharedLease {
  id: string
  identity: Identity
  hostname: string
  canonicalHostname: string
  clientIp: string
  reportedIp: string | undefined
  preferences: LeasePreferences
  domains: LeaseDomains
}

/** Hands a visitor over, with its socket. */
export interface HandedOver {
  kind: 'visitor'
  lease: string
  hello: PeekedHello | undefined
  /** The binding that another relay issued. */
  binding: Uint8Array | undefined
  addresses: TracedAddresses | undefined
  /** Bytes read from the socket, which the receiver puts back. */
  unread: Buffer
  /** Milliseconds since the visitor connected: the clocks of two processes do not start at the same time. */
  ageMs: number
  sessionsLost: number
  network: string | undefined
  isLowPriority: boolean
  machinesPassed: number | undefined
  isCounted: boolean | undefined
}

/** Hands the visitor of a feature over to the primary process, with its socket. */
export interface FeatureVisitor {
  kind: 'feature-visitor'
  serverName: string
  clientIp: string | undefined
  /** Bytes read from the socket, which the receiver puts back. */
  unread: Buffer
}

/** Hands a connection of an ACME authority over to the primary process, with its socket. */
export interface ChallengeVisitor {
  kind: 'challenge'
  serverName: string
  /** Bytes read from the socket, which the receiver puts back. */
  unread: Buffer
}

export type ToWorker =
  | WorkerStart
  | HandedOver
  /** Leases that were registered or renewed. */
  | { kind: 'leases'; leases: SharedLease[] }
  | { kind: 'ended'; lease: string; reason: LeaseEnd }
  /** Hostnames whose visitors a feature in the primary process serves from now on, or no longer serves. */
  | { kind: 'covers'; hostnames: readonly string[]; isCovered: boolean }
  /** Asks for the counts of the lease again. */
  | { kind: 'recount'; lease: string }
  /** A visitor of the lease waits in another process: closes one of a network that has more than its share. */
  | { kind: 'make-room'; lease: string }
  /** Another process has a new WebSocket of the lease, so those of this process may be dead. */
  | { kind: 'probe'; lease: string }
  | { kind: 'policy'; file: PolicyFile }
  | { kind: 'certificates'; certificates: CertificateFiles }
  | { kind: 'spend'; question: number; lease: string; binding: Buffer; clientHello: Uint8Array }
  /** The worker process answers once all earlier messages are in force. */
  | { kind: 'ping'; question: number }
  | { kind: 'stop-listening' }
  /** This machine leaves: the sessions of all leases must move to others. */
  | { kind: 'leave' }
  /** @see CLOSE_GRACE_MS */
  | { kind: 'end'; isGraceful: boolean }

export type ToPrimary =
  | HandedOver
  | FeatureVisitor
  | ChallengeVisitor
  | { kind: 'listening' }
  | { kind: 'failed'; message: string; code: string | undefined; port: number }
  /** The lease has a new WebSocket. */
  | { kind: 'carrier'; lease: string }
  | { kind: 'counts'; leases: LeaseCounts[] }
  /** Changes since the last report. */
  | { kind: 'counters'; change: CounterDelta; traffic: Traffic }
  | { kind: 'traffic'; leases: [lease: string, change: TrafficChange][] }
  | { kind: 'answer'; question: number; yes: boolean }

/** Counts of one lease in one process. */
export interface LeaseCounts {
  lease: string
  ready: number
  visitors: number
  connection: SiteConnection
}

export function sharedLease(lease: Lease): SharedLease {
  const { id, identity, hostname, canonicalHostname, clientIp, reportedIp, preferences, domains } = lease
  return { id, identity, hostname, canonicalHostname, clientIp, reportedIp, preferences, domains }
}
