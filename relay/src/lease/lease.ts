// One lease instance: who holds which hostnames until when, and the reverse sessions that serve them.

import { randomBytes } from 'node:crypto'
import type { Identity, LeaseMetadata } from '@svc/protocol'
import { ReadyQueue } from '../reverse/ready-queue.ts'
import type { Ports } from './reservations.ts'

/** Why a lease is no more. */
export type LeaseEnd = 'expired' | 'unregistered' | 'replaced' | 'shutdown'

export interface LeaseTerms {
  /** Where the lease is another process's; else it gets one. */
  id?: string
  /** Normalized. */
  identity: Identity
  /** Empty when the friendly hostname belongs to another identity. */
  hostname: string
  canonicalHostname: string
  metadata: LeaseMetadata
  ttlS: number
  firstSeenAt: number
  /** Normalized address that the relay saw. */
  clientIp: string
  /** Normalized address that the client said, when it did. */
  reportedIp: string | undefined
  /** Dedicated ports. */
  ports?: Ports | undefined
}

const LEASE_ID_BYTES = 12

export class Lease {
  /** Names this instance: tokens of a replaced lease name another one. */
  readonly id: string
  readonly identity: Identity
  readonly hostname: string
  readonly canonicalHostname: string
  readonly firstSeenAt: number
  readonly ports: Ports | undefined
  clientIp: string
  reportedIp: string | undefined
  readonly ready: ReadyQueue = new ReadyQueue()
  metadata: LeaseMetadata
  /** Milliseconds since the epoch, as {@link expiresAt}. */
  lastSeenAt: number
  expiresAt: number
  readonly #ended = new AbortController()
  readonly #open = new Set<() => void>()

  constructor(terms: LeaseTerms) {
    this.id = terms.id ?? `lease_${randomBytes(LEASE_ID_BYTES).toString('hex')}`
    this.identity = terms.identity
    this.hostname = terms.hostname
    this.canonicalHostname = terms.canonicalHostname
    this.metadata = terms.metadata
    this.firstSeenAt = terms.firstSeenAt
    this.clientIp = terms.clientIp
    this.reportedIp = terms.reportedIp
    this.ports = terms.ports
    this.lastSeenAt = Date.now()
    this.expiresAt = this.lastSeenAt + terms.ttlS * 1000
  }

  /** Every hostname under which the lease is published. */
  get hostnames(): string[] {
    return this.hostname === '' ? [this.canonicalHostname] : [this.hostname, this.canonicalHostname]
  }

  /** Whether it has a dedicated port of that kind. */
  has(transport: keyof Ports): boolean {
    return this.ports?.[transport] !== undefined
  }

  /** Where that port is reached: `<root host>:<port>`. */
  addressOf(transport: keyof Ports): string | undefined {
    const rootHost = this.canonicalHostname.slice(this.canonicalHostname.indexOf('.') + 1)
    return this.has(transport) ? `${rootHost}:${this.ports?.[transport]}` : undefined
  }

  /** Aborted when the lease ends, with a {@link LeaseEnd} as its reason. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  extend(ttlS: number): void {
    this.lastSeenAt = Date.now()
    this.expiresAt = this.lastSeenAt + ttlS * 1000
  }

  /**
   * Registers what has to close when the policy bars the lease.
   * @returns takes it back
   */
  onBar(close: () => void): () => void {
    this.#open.add(close)
    return () => this.#open.delete(close)
  }

  /** Closes all that is open of the lease; it stays active, and may be allowed again. */
  bar(): void {
    for (const close of this.#open) close()
    this.ready.clear()
  }

  /** Closes the idle sessions and turns waiting visitors away; bridged connections end with their carrier. */
  end(reason: LeaseEnd): void {
    this.#ended.abort(reason)
    this.ready.close()
  }
}
