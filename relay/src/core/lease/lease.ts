// Describes one lease instance: its identity, hostnames, ports and expiry.

import { randomBytes } from 'node:crypto'
import { hostPort } from '@svc/node-kit/host-port'
import { type Identity, identityKey, type LeaseMetadata, type SiteStatement } from '@svc/protocol'
import { networkOf } from '../client-address/ip-address.ts'
import { now } from '../clock.ts'
import type { LeasePorts } from './lease-ports.ts'
import { type LeasePreferences, NO_PREFERENCES } from './lease-preferences.ts'

/** Why a lease ended. */
export type LeaseEnd = 'expired' | 'unregistered' | 'replaced' | 'shutdown'

export interface LeaseTerms {
  /** Id of a lease of another process; without it the lease gets a new one. */
  id?: string
  /**
   * Larger than that of every lease of this relay that was registered before: the fencing token where the relay is several
   * machines; a mirror of a lease needs none.
   */
  sequence?: number
  /** Normalized. */
  identity: Identity
  /** Empty when the friendly hostname belongs to another identity. */
  hostname: string
  canonicalHostname: string
  metadata: LeaseMetadata
  ttlS: number
  /** Relay time. */
  firstSeenAt: number
  /** Normalized address that the relay saw. */
  clientIp: string
  /** Normalized address that the client reported, if any. */
  reportedIp: string | undefined
  /** Dedicated ports. */
  ports?: LeasePorts | undefined
  /** Host that their addresses name. @default the root host, which shares cookies with them */
  portHost?: string | undefined
  /** Name of the machine that has these ports; undefined where the relay is one machine. */
  machine?: string | undefined
  /** Relay time. @default `ttlS` from now */
  expiresAt?: number | undefined
  /** @default NO_PREFERENCES */
  preferences?: LeasePreferences | undefined
  statement?: SiteStatement | undefined
}

/** The reverse sessions of a lease, as far as the lease knows of them. */
export interface LeaseSessions {
  /** Called when the policy does not route the lease any more. */
  clear(): void
  /** Called when the lease ends. */
  close(): void
}

const LEASE_ID_BYTES = 12

export function newLeaseId(): string {
  return `lease_${randomBytes(LEASE_ID_BYTES).toString('hex')}`
}

/** The route of a public connection to the reverse sessions of a lease. */
export interface LeaseRoute {
  readonly to: 'lease'
  readonly lease: Lease
}

export class Lease {
  /** Names this instance: tokens of a replaced lease name another one. */
  readonly id: string
  readonly sequence: number
  readonly identity: Identity
  /** Name and address in one text, by which the policy knows the identity. */
  readonly identityKey: string
  readonly hostname: string
  readonly canonicalHostname: string
  readonly firstSeenAt: number
  readonly ports: LeasePorts | undefined
  readonly portHost: string | undefined
  readonly machine: string | undefined
  readonly preferences: LeasePreferences
  /** Leads each of the lease's {@link hostnames} to it. */
  readonly route: LeaseRoute = { to: 'lease', lease: this }
  clientIp: string
  /** Network of the client that registered it, under which it counts. */
  readonly registeredFrom: string
  reportedIp: string | undefined
  metadata: LeaseMetadata
  /** The site's word that it is at this relay, for relays that ask; undefined where it has given none. */
  statement: SiteStatement | undefined
  /** Relay time, as {@link expiresAt}. */
  lastSeenAt: number
  expiresAt: number
  readonly #ended = new AbortController()
  readonly #open = new Set<() => void>()
  #sessions: LeaseSessions | undefined
  /** As of the last change of the policy. */
  #isRouted = true

  constructor(terms: LeaseTerms) {
    this.id = terms.id ?? newLeaseId()
    this.sequence = terms.sequence ?? 0
    this.identity = terms.identity
    this.identityKey = identityKey(terms.identity.name, terms.identity.address)
    this.hostname = terms.hostname
    this.canonicalHostname = terms.canonicalHostname
    this.metadata = terms.metadata
    this.firstSeenAt = terms.firstSeenAt
    this.clientIp = terms.clientIp
    this.registeredFrom = networkOf(terms.clientIp)
    this.reportedIp = terms.reportedIp
    this.ports = terms.ports
    this.portHost = terms.portHost
    this.machine = terms.machine
    this.preferences = terms.preferences ?? NO_PREFERENCES
    this.statement = terms.statement
    this.lastSeenAt = now()
    this.expiresAt = terms.expiresAt ?? this.lastSeenAt + terms.ttlS * 1000
  }

  /** Every hostname under which the lease is published. */
  get hostnames(): string[] {
    return this.hostname === '' ? [this.canonicalHostname] : [this.hostname, this.canonicalHostname]
  }

  /** Whether it has a dedicated port of that kind. */
  has(transport: keyof LeasePorts): boolean {
    return this.ports?.[transport] !== undefined
  }

  /** Address of that port: `<host>:<port>`. */
  addressOf(transport: keyof LeasePorts): string | undefined {
    const port = this.ports?.[transport]
    if (port === undefined) return undefined
    const host = this.portHost ?? this.canonicalHostname.slice(this.canonicalHostname.indexOf('.') + 1)
    return hostPort(host, port)
  }

  /** Aborted when the lease ends, with a {@link LeaseEnd} as its reason. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  extend(ttlS: number): void {
    const time = now()
    this.extendTo(time + ttlS * 1000, time)
  }

  /** @param lastSeenAt relay time, as `expiresAt` */
  extendTo(expiresAt: number, lastSeenAt: number): void {
    this.lastSeenAt = lastSeenAt
    this.expiresAt = expiresAt
  }

  /**
   * Registers a function that closes a connection when the policy does not route the lease any more.
   * @returns a function that removes it
   */
  onBlock(close: () => void): () => void {
    this.#open.add(close)
    return () => this.#open.delete(close)
  }

  /**
   * Ties the reverse sessions of the lease to it, once. They hear of a block and of the end after every other listener:
   * a carrier that the lease's end closes must not reset its streams before it says why.
   */
  attachSessions(sessions: LeaseSessions): void {
    this.#sessions = sessions
    if (this.ended.aborted) sessions.close()
  }

  /**
   * Follows a change of the policy: what is open closes when visitors may not reach the lease any more, by a ban or by
   * the loss of its approval. The lease stays active. Its SDK comes back, learns how it stands, and may wait.
   */
  follow(isRouted: boolean): void {
    const isLost = this.#isRouted && !isRouted
    this.#isRouted = isRouted
    if (!isLost) return
    for (const close of this.#open) close()
    this.#sessions?.clear()
  }

  /** Ends everything of the lease; bridged connections end with their carrier. */
  end(reason: LeaseEnd): void {
    this.#ended.abort(reason)
    this.#sessions?.close()
  }
}
