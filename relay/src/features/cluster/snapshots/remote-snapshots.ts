// The snapshots that other machines have: their hostnames are routed there for as long as the machine can be reached.

import type { Socket } from 'node:net'
import { TIMER_MAX_MS } from '@svc/protocol/timers'
import { ALERT, alertRecord } from '@svc/tls/messages'
import { now } from '../../../core/clock.ts'
import type { FeatureRoute, Route } from '../../../core/lease/route.ts'
import type { RoutingTable } from '../../../core/routing/routing-table.ts'
import type { RemoteSnapshot } from '../../static-cache/snapshot-sharing.ts'
import { LINK_TAKEN_MS } from '../limits.ts'

interface SnapshotElsewhere extends Omit<RemoteSnapshot, 'isReachable' | 'identityKey'> {
  /** Relay time at which the entry expires. */
  forgottenAt: number
}

interface Known extends SnapshotElsewhere {
  route: FeatureRoute
  timer: NodeJS.Timeout
  /** Whether the machine has just refused a visitor. */
  isDoubted: boolean
}

interface ElsewhereParts {
  routes: Pick<RoutingTable<Route>, 'cover' | 'uncover'>
  isReachable(machine: string): boolean
  /** @returns false when the machine does not accept the visitor; the connection is then still open */
  passOn(machine: string, visitor: Socket, serverName: string, clientIp: string | undefined): Promise<boolean>
}

export class RemoteSnapshots {
  readonly #parts: ElsewhereParts
  readonly #byIdentity = new Map<string, Known>()

  constructor(parts: ElsewhereParts) {
    this.#parts = parts
  }

  /** Whether this snapshot is known already, apart from its end. */
  has(identityKey: string, { machine, digest }: Pick<SnapshotElsewhere, 'machine' | 'digest'>): boolean {
    const known = this.#byIdentity.get(identityKey)
    return known?.machine === machine && known.digest === digest
  }

  set(identityKey: string, snapshot: SnapshotElsewhere): void {
    this.delete(identityKey)
    const leftMs = snapshot.forgottenAt - now()
    if (leftMs <= 0) return
    const timer = setTimeout(() => this.delete(identityKey), Math.min(leftMs, TIMER_MAX_MS)).unref()
    const route = this.#routeTo(snapshot, () => this.#doubt(identityKey, known))
    const known: Known = { ...snapshot, route, timer, isDoubted: false }
    this.#byIdentity.set(identityKey, known)
    this.#judge(known)
  }

  delete(identityKey: string): void {
    const known = this.#byIdentity.get(identityKey)
    if (known === undefined) return
    this.#byIdentity.delete(identityKey)
    clearTimeout(known.timer)
    this.#parts.routes.uncover(known.hostname, known.route)
  }

  /** Lists the snapshots that have not expired. */
  *all(): Iterable<RemoteSnapshot> {
    for (const [identityKey, known] of this.#byIdentity) {
      const { machine, hostname, digest, files, bytes, publishedAt, expiresAt, isDoubted } = known
      if (expiresAt <= now()) continue
      const isReachable = this.#parts.isReachable(machine) && !isDoubted
      yield { identityKey, machine, hostname, digest, files, bytes, publishedAt, expiresAt, isReachable }
    }
  }

  keys(): string[] {
    return [...this.#byIdentity.keys()]
  }

  /** The end of a snapshot with this digest, in relay time; undefined when no visitor can get it. */
  find(identityKey: string, digest: string): number | undefined {
    const known = this.#byIdentity.get(identityKey)
    if (known?.digest !== digest || !this.#parts.isReachable(known.machine)) return undefined
    return known.expiresAt > now() ? known.expiresAt : undefined
  }

  /** Updates the routes when a machine becomes reachable or unreachable. */
  judge(): void {
    for (const known of this.#byIdentity.values()) this.#judge(known)
  }

  close(): void {
    for (const identityKey of this.keys()) this.delete(identityKey)
  }

  /** Visitors get the live site while the snapshot cannot be reached. */
  #judge({ machine, hostname, route, isDoubted }: Known): void {
    const { routes, isReachable } = this.#parts
    if (isReachable(machine) && !isDoubted) routes.cover(hostname, route)
    else routes.uncover(hostname, route)
  }

  /** The next visitors get the live site: the machine leaves, or has lost the snapshot, which this one learns later. */
  #doubt(identityKey: string, known: Known): void {
    if (known.isDoubted) return
    known.isDoubted = true
    this.#judge(known)
    const restore = (): void => {
      known.isDoubted = false
      if (this.#byIdentity.get(identityKey) === known) this.#judge(known)
    }
    setTimeout(restore, LINK_TAKEN_MS).unref()
  }

  #routeTo({ machine }: SnapshotElsewhere, doubt: () => void): FeatureRoute {
    const { isReachable, passOn } = this.#parts
    return {
      to: 'feature',
      isOpen: () => isReachable(machine),
      serve: async (visitor, serverName, clientIp) => {
        if (await passOn(machine, visitor, serverName, clientIp)) return
        doubt()
        visitor.end(alertRecord(ALERT.unrecognized_name), () => visitor.destroySoon())
      },
    }
  }
}
