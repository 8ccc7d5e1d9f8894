// Holds the flows of one UDP port: the visitor's address behind each flow id, and the credit to send to it.

import { FLOW_ID_MAX, FLOW_IDLE_MS } from '@svc/protocol'
import type { RelayCounters } from '../../core/metrics/relay-counters.ts'
import { AddressValidation } from './address-validation.ts'
import { AmplificationLimit } from './amplification-limit.ts'
import { FLOW_EVICTABLE_MS, FLOWS_MAX, FLOWS_PER_LEASE_MAX } from './limits.ts'

export interface Flow {
  readonly id: number
  readonly address: string
  readonly port: number
  /** Time of the last datagram, in milliseconds of the table's clock. */
  seenAt: number
  readonly credit: AmplificationLimit
  /** The last tunnel for which its visitor's address was due. */
  announcedTo: object | undefined
}

/** Returns the function with which {@link AmplificationLimit} spends the share of an address's network. */
export type NetworkShareOf = (address: string) => (bytes: number) => boolean

interface Host {
  validation: AddressValidation
  flows: number
}

interface FlowBounds {
  perPort?: number
  all?: number
  firstId?: number
  now?: () => number
}

export class FlowTable {
  readonly #counters: Pick<RelayCounters, 'flows'>
  readonly #networkShareOf: NetworkShareOf
  readonly #max: number
  readonly #maxOfAll: number
  readonly #now: () => number
  readonly #byId = new Map<number, Flow>()
  /** The flow that has been silent the longest is first. */
  readonly #byVisitor = new Map<string, Flow>()
  /** By IP address, while the address has a flow. */
  readonly #hosts = new Map<string, Host>()
  #nextId: number

  /** @param counters counts the flows of all tables */
  constructor(
    counters: Pick<RelayCounters, 'flows'>,
    networkShareOf: NetworkShareOf,
    {
      perPort = FLOWS_PER_LEASE_MAX,
      all = FLOWS_MAX,
      firstId = 1,
      now = () => performance.now(),
    }: FlowBounds = {},
  ) {
    this.#counters = counters
    this.#networkShareOf = networkShareOf
    this.#max = perPort
    this.#maxOfAll = all
    this.#nextId = firstId
    this.#now = now
  }

  get size(): number {
    return this.#byId.size
  }

  /** Records a datagram of `bytes` from a visitor. @returns its flow; undefined when there is no room for another one */
  onReceived(address: string, port: number, bytes: number): Flow | undefined {
    const key = keyOf(address, port)
    const flow = this.#byVisitor.get(key) ?? this.#open(address, port)
    if (flow === undefined) return undefined
    this.#touch(key, flow)
    flow.credit.onReceived(bytes, flow.seenAt)
    return flow
  }

  find(id: number): Flow | undefined {
    return this.#byId.get(id)
  }

  /** @returns false when the amplification limit allows no datagram of `bytes` */
  spend(flow: Flow, bytes: number): boolean {
    if (!flow.credit.spend(bytes, this.#now())) return false
    this.#touch(keyOf(flow.address, flow.port), flow)
    return true
  }

  /** Ends the idle flows. */
  sweep(): void {
    const idleSince = this.#now() - FLOW_IDLE_MS
    for (const [key, flow] of this.#byVisitor) {
      if (flow.seenAt > idleSince) return
      this.#end(key, flow)
    }
  }

  clear(): void {
    this.#counters.flows -= this.#byId.size
    this.#byId.clear()
    this.#byVisitor.clear()
    this.#hosts.clear()
  }

  #open(address: string, port: number): Flow | undefined {
    if (!this.#hasRoom() && !this.#evict()) return undefined
    const host = this.#hosts.get(address) ?? { validation: new AddressValidation(), flows: 0 }
    this.#hosts.set(address, host)
    host.flows += 1
    const credit = new AmplificationLimit(host.validation, this.#networkShareOf(address))
    const flow: Flow = { id: this.#freeId(), address, port, seenAt: 0, credit, announcedTo: undefined }
    this.#byId.set(flow.id, flow)
    this.#counters.flows += 1
    return flow
  }

  #hasRoom(): boolean {
    return this.#byId.size < this.#max && this.#counters.flows < this.#maxOfAll
  }

  #evict(): boolean {
    const [oldest] = this.#byVisitor
    if (oldest === undefined || this.#now() - oldest[1].seenAt < FLOW_EVICTABLE_MS) return false
    this.#end(...oldest)
    return true
  }

  #end(key: string, { id, address }: Flow): void {
    this.#byVisitor.delete(key)
    this.#byId.delete(id)
    this.#counters.flows -= 1
    const host = this.#hosts.get(address)!
    host.flows -= 1
    if (host.flows === 0) this.#hosts.delete(address)
  }

  #touch(key: string, flow: Flow): void {
    flow.seenAt = this.#now()
    this.#byVisitor.delete(key)
    this.#byVisitor.set(key, flow)
  }

  /** Returns an unused id. Ids repeat only after 2^32, and far fewer flows exist. */
  #freeId(): number {
    let id = this.#nextId
    while (this.#byId.has(id)) id = nextAfter(id)
    this.#nextId = nextAfter(id)
    return id
  }
}

function nextAfter(id: number): number {
  return id === FLOW_ID_MAX ? 1 : id + 1
}

function keyOf(address: string, port: number): string {
  return `${address} ${port}`
}
