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

/** A custom domain that leads to a lease, since its records name the identity. */
export interface ProvenDomain {
  domain: string
  /** Relay time at which the look-up of the records began. */
  provenAt: number
}

/** The custom domains of a lease at one time: of two states the one that changed later counts. */
export interface LeaseDomains {
  /** Relay time. */
  changedAt: number
  proven: readonly ProvenDomain[]
}

export const NO_DOMAINS: LeaseDomains = { changedAt: 0, proven: [] }

export interface LeaseTerms {
  /** Id of a lease of another process; without it the lease gets a new one. */
  id?: string
  /**
   * Larger than that of every earlier lease of this relay; in a cluster, the fencing token. A mirror of a lease needs
   * none.
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
  /** Name of the machine that has these ports; undefined on a single machine. */
  machine?: string | undefined
  /** Relay time. @default `ttlS` from now */
  expiresAt?: number | undefined
  /** @default NO_PREFERENCES */
  preferences?: LeasePreferences | undefined
  statement?: SiteStatement | undefined
  /** @default none */
  domains?: LeaseDomains | undefined
}

/** What a lease notifies of its reverse sessions. */
export interface LeaseSessions {
  /** Called when the policy no longer routes the lease. */
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
  /** Routes each of the lease's {@link hostnames} to it. */
  readonly route: LeaseRoute = { to: 'lease', lease: this }
  clientIp: string
  /** Network of the client that registered it, for limits. */
  readonly registeredFrom: string
  reportedIp: string | undefined
  metadata: LeaseMetadata
  /** The site's signed statement that it is at this relay, for relays that ask; undefined if it gave none. */
  statement: SiteStatement | undefined
  domains: LeaseDomains
  /** Relay time, as {@link expiresAt}. */
  lastSeenAt: number
  expiresAt: number
  readonly #ended = new AbortController()
  /** Closes each open connection; with the name to which its visitor came. */
  readonly #open = new Map<() => void, string>()
  #sessions: LeaseSessions | undefined
  /** Result of the last policy change. */
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
    this.domains = terms.domains ?? NO_DOMAINS
    this.lastSeenAt = now()
    this.expiresAt = terms.expiresAt ?? this.lastSeenAt + terms.ttlS * 1000
  }

  /** Every hostname under which the lease is published. */
  get hostnames(): string[] {
    return this.hostname === '' ? [this.canonicalHostname] : [this.hostname, this.canonicalHostname]
  }

  /** Whether visitors of that name come here. */
  isAt(serverName: string): boolean {
    return this.hostnames.includes(serverName) || isAmong(this.domains, serverName)
  }

  /** When the custom domain was proven that leads here; undefined if it does not. */
  provenAt(domain: string): number | undefined {
    return this.domains.proven.find((one) => one.domain === domain)?.provenAt
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
   * Registers a function that closes a connection when the policy no longer routes the lease, or the custom domain of its visitor leads
   * here no longer.
   * @param serverName to which the visitor came. @default none
   * @returns a function that removes it
   */
  onBlock(close: () => void, serverName = ''): () => void {
    this.#open.set(close, serverName)
    return () => this.#open.delete(close)
  }

  /** The registry alone calls this, after it has changed the routes: connections at domains that the lease no longer has are closed. */
  setDomains(domains: LeaseDomains): void {
    const lost = this.domains.proven.filter(({ domain }) => !isAmong(domains, domain))
    this.domains = domains
    if (lost.length === 0) return
    const names = new Set(lost.map(({ domain }) => domain))
    for (const [close, serverName] of this.#open) if (names.has(serverName)) close()
  }

  /**
   * Attaches the lease's reverse sessions, once. They are notified of a block or the end after every other listener: a
   * carrier must not reset its streams before it says why it closes.
   */
  attachSessions(sessions: LeaseSessions): void {
    this.#sessions = sessions
    if (this.ended.aborted) sessions.close()
  }

  /**
   * Applies a policy change: connections close when a ban or a lost approval keeps visitors from the lease. The lease
   * stays active; its SDK reconnects, learns its status, and may wait.
   */
  setRouted(isRouted: boolean): void {
    const isLost = this.#isRouted && !isRouted
    this.#isRouted = isRouted
    if (!isLost) return
    for (const close of this.#open.keys()) close()
    this.#sessions?.clear()
  }

  /** Ends everything of the lease; bridged connections end with their carrier. */
  end(reason: LeaseEnd): void {
    this.#ended.abort(reason)
    this.#sessions?.close()
  }
}

function isAmong({ proven }: LeaseDomains, name: string): boolean {
  return proven.some(({ domain }) => domain === name)
}
