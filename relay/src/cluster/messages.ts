// What the processes of a relay tell each other. Each message arrives whole and in order, some with a socket.

import type { Identity } from '@svc/protocol'
import type { Traffic } from '../bridge/visitors.ts'
import type { PeekedHello } from '../ingress/client-hello.ts'
import type { Lease, LeaseEnd } from '../lease/lease.ts'
import type { LeasePreferences } from '../lease/lease-preferences.ts'
import type { CounterDelta } from '../metrics/relay-counters.ts'
import type { PolicyFile } from '../policy/policy-file.ts'

/** What a worker needs to know before it can do anything. Keys come this way only: no argument or variable has them. */
export interface WorkerStart {
  kind: 'begin'
  /** Among all processes; the first one has 0. */
  processIndex: number
  /** @see setClockOrigin */
  clockOrigin: number
  /** How many there are. */
  processes: number
  port: number
  rootHost: string
  /** Of tokens. */
  issuer: string
  /** That tokens are verified with: SubjectPublicKeyInfo, DER. */
  publicKey: Buffer
  certificates: CertificateFiles
  policy: PolicyFile
  trustedProxies: string
  logLevel: string
}

export interface CertificateFiles {
  chainPem: string
  keyPem: string
}

/** Of a lease what its visitors and carriers need. */
export interface SharedLease {
  id: string
  identity: Identity
  hostname: string
  canonicalHostname: string
  clientIp: string
  reportedIp: string | undefined
  preferences: LeasePreferences
}

/** With the visitor's socket. */
export interface HandedOver {
  kind: 'visitor'
  lease: string
  hello: PeekedHello | undefined
  /** Read from the socket, and to be read from it again. */
  unread: Buffer
  /** How long the visitor has been here, in milliseconds: the clocks of two processes do not start at the same time. */
  ageMs: number
  sessionsLost: number
  network: string | undefined
  isLowPriority: boolean
}

export type ToWorker =
  | WorkerStart
  | HandedOver
  /** Registered or renewed. */
  | { kind: 'leases'; leases: SharedLease[] }
  | { kind: 'ended'; lease: string; reason: LeaseEnd }
  /** Its numbers are to be told again. */
  | { kind: 'recount'; lease: string }
  /** A visitor of the lease waits elsewhere: a source that has more than its share gives way. */
  | { kind: 'make-room'; lease: string }
  /** Another process has a new WebSocket of it: those here may be dead. */
  | { kind: 'probe'; lease: string }
  | { kind: 'policy'; file: PolicyFile }
  | { kind: 'certificates'; certificates: CertificateFiles }
  | { kind: 'spend'; question: number; lease: string; binding: Buffer; clientHello: Uint8Array }
  /** Answered once all that was told before is in force. */
  | { kind: 'ping'; question: number }
  | { kind: 'stop-listening' }
  /** @see CLOSE_GRACE_MS */
  | { kind: 'end'; isGraceful: boolean }

export type ToPrimary =
  | HandedOver
  | { kind: 'listening' }
  | { kind: 'failed'; message: string; code: string | undefined; port: number }
  /** A new WebSocket. */
  | { kind: 'carrier'; lease: string }
  | { kind: 'counts'; leases: LeaseCounts[] }
  /** Since the last one. */
  | { kind: 'counters'; change: CounterDelta; traffic: Traffic }
  | { kind: 'answer'; question: number; yes: boolean }

/** Of one lease in one process. */
export interface LeaseCounts {
  lease: string
  ready: number
  visitors: number
}

export function sharedLease(lease: Lease): SharedLease {
  const { id, identity, hostname, canonicalHostname, clientIp, reportedIp, preferences } = lease
  return { id, identity, hostname, canonicalHostname, clientIp, reportedIp, preferences }
}
