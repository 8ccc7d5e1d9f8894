// Knows the traffic of each lease's visitors, and of all: now, and in each of the last 24 hours.

import type { HourTraffic, LeaseTraffic as LeaseTrafficJson, RelayTraffic } from '@svc/protocol'
import { now } from '../clock.ts'
import { NetworkCounts } from '../rate-limit/fair-share.ts'
import type { Counted, CountedConnection, TrafficSink } from './counted-connection.ts'
import type { TrafficChange } from './traffic-changes.ts'
import {
  HOUR_MS,
  hoursBefore,
  type Moment,
  SAMPLES,
  type StoredHour,
  TRAFFIC_HOURS,
  type TrafficCounts,
  TrafficRecord,
} from './traffic-record.ts'
import { markOf, newSketchKey, unionOf } from './visitor-sketch.ts'

/**
 * Identities whose traffic is known, at some 4 KiB each. Visitors of others count in the sum of the relay alone. Each network that
 * registers leases has a share.
 */
export const TRAFFIC_IDENTITIES_MAX = 16_384
/** Time between two samples of what the open connections have counted. */
const SAMPLE_MS = 2_000
const MS_PER_S = 1_000

const NOTHING: TrafficCounts = { received: 0, sent: 0, connections: 0, marks: [] }
const NO_SUM = { received_bytes: 0, sent_bytes: 0, connections: 0, visitors: 0 }

/** Another process, or a kind of connections, with its numbers of open ones. */
type Source = object | string

/** The traffic of one identity, to be kept over a restart. */
export interface StoredTraffic {
  /** Undefined for the sums of all. */
  identityKey: string | undefined
  /** The network that registered the lease. */
  network: string
  hours: StoredHour[]
}

/** The same, of which the hours are read when they are needed. */
export interface KeptTraffic extends Omit<StoredTraffic, 'hours'> {
  /** Hours since the epoch, of the last bytes or connection; 0 before the first. */
  lastHour: number
  read(): StoredHour[]
}

interface Known {
  record: TrafficRecord
  /** The network that registered the lease. */
  network: string
}

export interface TrafficOptions {
  /** Relay time, in milliseconds. @default that of the relay */
  now?: () => number
  /** @default TRAFFIC_IDENTITIES_MAX */
  identitiesMax?: number
}

export class LeaseTraffic implements TrafficSink {
  /** The key of the sketches, for the other processes of this machine. */
  readonly key: Uint8Array = newSketchKey()
  readonly #now: () => number
  readonly #identitiesMax: number
  readonly #known = new Map<string, Known>()
  readonly #perNetwork = new NetworkCounts()
  readonly #all = new TrafficRecord()
  readonly #openOf = new Map<Source, Map<string, number>>()
  readonly #onSample = new Set<() => void>()
  /** What this machine has counted since it last told the others; undefined where there are none. */
  #untold: Map<string, TrafficCounts[]> | undefined
  /** Identities of which the others know open connections here. */
  #toldOpen: readonly string[] = []
  /** Relay time of the last samples, the oldest first. */
  #sampledAt: number[]
  #sample = 0
  #forgotAt = 0
  #changes = 0
  readonly #timer: NodeJS.Timeout

  constructor({ now: time = now, identitiesMax = TRAFFIC_IDENTITIES_MAX }: TrafficOptions = {}) {
    this.#now = time
    this.#identitiesMax = identitiesMax
    this.#sampledAt = [time()]
    this.#timer = setInterval(() => this.sample(), SAMPLE_MS).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Number of identities whose traffic is known. */
  get size(): number {
    return this.#known.size
  }

  /** A number that is another one after something was counted. */
  get changes(): number {
    return this.#changes
  }

  /** The traffic of each identity, and of all. */
  *stored(): Generator<KeptTraffic> {
    const read = (record: TrafficRecord) => (): StoredHour[] => record.stored(this.#moment())
    const { lastHour } = this.#all
    yield { identityKey: undefined, network: '', lastHour, read: read(this.#all) }
    for (const [identityKey, { record, network }] of this.#known)
      yield { identityKey, network, lastHour: record.lastHour, read: read(record) }
  }

  /** Adds what was stored before a restart. Its visitors count again when they come again: the key of the sketches is new. */
  restore({ identityKey, network, hours }: StoredTraffic): void {
    const record =
      identityKey === undefined ? this.#all : this.#recordOf({ identityKey, registeredFrom: network })
    for (const hour of hours) record?.restore(this.#moment(), hour)
  }

  /** Number of sources with open connections. */
  get sources(): number {
    return this.#openOf.size
  }

  /** @param listener called at the end of each sample, to count what connections have transferred meanwhile */
  onSample(listener: () => void): void {
    this.#onSample.add(listener)
  }

  /** Completes a sample, of which bytes per second are made, and begins the next one. */
  sample(): void {
    for (const listener of this.#onSample) listener()
    this.#sampledAt = [...this.#sampledAt, this.#now()].slice(-SAMPLES - 1)
    this.#sample += 1
    const { hour } = this.#moment()
    if (hour === this.#forgotAt) return
    this.#forgotAt = hour
    this.#forget(hour - TRAFFIC_HOURS)
  }

  connect(lease: Counted, network: string | undefined, isNew: boolean): CountedConnection {
    if (isNew) this.begin(lease, network)
    return new OpenConnection(this, lease, this.#recordOf(lease), this.#all)
  }

  /** Counts a connection, or a flow of datagrams, that began. */
  begin(lease: Counted, network: string | undefined): void {
    const marks = network === undefined ? [] : [markOf(this.key, network)]
    this.#count(lease, { ...NOTHING, connections: 1, marks })
  }

  /** Counts bytes since the last call. */
  carry(lease: Counted, received: number, sent: number): void {
    if (received > 0 || sent > 0) this.#count(lease, { ...NOTHING, received, sent })
  }

  /** Adds what another process of this machine has counted since its last report. */
  merge(source: Source, lease: Counted, change: TrafficChange): void {
    this.#count(lease, change)
    this.setOpen(source, lease, change.open)
  }

  /** Adds what another machine has counted since it last told. @param machine its name */
  mergeElsewhere(machine: string, lease: Counted, change: TrafficChange): void {
    this.#add(lease, change)
    this.#addOpen(lease.identityKey, this.#setOpen(machine, lease, change.open), true)
  }

  /** Says how many open connections of the lease a source on this machine has now. */
  setOpen(source: Source, lease: Counted, open: number): void {
    this.#addOpen(lease.identityKey, this.#setOpen(source, lease, open), false)
  }

  /** Forgets the open connections of a source that has ended. @param isElsewhere whether it is another machine */
  lost(source: Source, isElsewhere = false): void {
    for (const [identityKey, open] of this.#openOf.get(source) ?? [])
      this.#addOpen(identityKey, -open, isElsewhere)
    this.#openOf.delete(source)
  }

  /** From now on, {@link takeUntold} returns what this machine counts. */
  share(): void {
    this.#untold = new Map()
  }

  /** What this machine has counted since the last call, and its open connections, by identity. */
  takeUntold(): [identityKey: string, change: TrafficChange][] {
    const untold = this.#untold ?? new Map<string, TrafficCounts[]>()
    if (this.#untold !== undefined) this.#untold = new Map()
    for (const [key, { record }] of this.#known)
      if (record.open > record.openElsewhere && !untold.has(key)) untold.set(key, [])
    for (const key of this.#toldOpen) if (!untold.has(key)) untold.set(key, [])
    const told = Array.from(untold, ([key, counts]): [string, TrafficChange] => {
      const record = this.#known.get(key)?.record
      const open = record === undefined ? 0 : Math.max(0, record.open - record.openElsewhere)
      return [key, { ...sumOf(counts), open }]
    })
    this.#toldOpen = told.filter(([, { open }]) => open > 0).map(([key]) => key)
    return told
  }

  /** The traffic of an identity; undefined when none of its visitors came within the day. */
  of(identityKey: string): LeaseTrafficJson | undefined {
    const traffic = this.#known.get(identityKey)?.record.read(this.#moment())
    if (traffic === undefined) return undefined
    const { open_connections, day } = traffic
    const isSeen = open_connections + day.connections + day.received_bytes + day.sent_bytes > 0
    return isSeen ? traffic : undefined
  }

  /** The hours of the day, the oldest first. */
  hoursOf(identityKey: string): HourTraffic[] {
    const moment = this.#moment()
    const record = this.#known.get(identityKey)?.record
    return record?.hours(moment) ?? hoursBefore(moment, () => NO_SUM)
  }

  /** The traffic of all visitors. */
  get all(): RelayTraffic {
    const moment = this.#moment()
    return { ...this.#all.read(moment), hours: this.#all.hours(moment) }
  }

  #moment(): Moment {
    const [first = 0] = this.#sampledAt
    const last = this.#sampledAt.at(-1)!
    return {
      hour: Math.floor(this.#now() / HOUR_MS),
      sample: this.#sample,
      seconds: (last - first) / MS_PER_S,
    }
  }

  #count(lease: Counted, counts: TrafficCounts): void {
    this.#add(lease, counts)
    if (this.#untold === undefined) return
    const untold = this.#untold.get(lease.identityKey)
    if (untold === undefined) this.#untold.set(lease.identityKey, [counts])
    else if (untold.length < UNTOLD_MAX) untold.push(counts)
    else this.#untold.set(lease.identityKey, [sumOf([...untold, counts])])
  }

  #add(lease: Counted, counts: TrafficCounts): void {
    this.#changes += 1
    const moment = this.#moment()
    this.#recordOf(lease)?.add(moment, counts)
    this.#all.add(moment, counts)
  }

  #setOpen(source: Source, { identityKey }: Counted, open: number): number {
    const counts = this.#openOf.get(source) ?? new Map<string, number>()
    const change = open - (counts.get(identityKey) ?? 0)
    if (open > 0) counts.set(identityKey, open)
    else counts.delete(identityKey)
    // A source may be a port, which ends without a word.
    if (counts.size > 0) this.#openOf.set(source, counts)
    else this.#openOf.delete(source)
    return change
  }

  #addOpen(identityKey: string, change: number, isElsewhere: boolean): void {
    const record = this.#known.get(identityKey)?.record
    for (const each of record === undefined ? [this.#all] : [record, this.#all]) {
      each.open += change
      if (isElsewhere) each.openElsewhere += change
    }
  }

  /** @returns undefined when there is no room for another identity of the network that registered it */
  #recordOf({ identityKey, registeredFrom }: Counted): TrafficRecord | undefined {
    const known = this.#known.get(identityKey)
    if (known !== undefined) return known.record
    const free = this.#identitiesMax - this.#known.size
    if (!this.#perNetwork.mayHave(1, registeredFrom, free, this.#identitiesMax)) return undefined
    const record = new TrafficRecord()
    this.#known.set(identityKey, { record, network: registeredFrom })
    this.#perNetwork.add(registeredFrom, 1)
    return record
  }

  /** Forgets the identities to which nobody came since that hour. */
  #forget(before: number): void {
    for (const [key, { record, network }] of this.#known) {
      if (record.open > 0 || record.lastHour > before) continue
      this.#known.delete(key)
      this.#perNetwork.add(network, -1)
    }
  }
}

class OpenConnection implements CountedConnection {
  readonly #traffic: LeaseTraffic
  readonly #lease: Counted
  readonly #record: TrafficRecord | undefined
  readonly #all: TrafficRecord

  /** @param record undefined when there is no room for the lease's identity */
  constructor(traffic: LeaseTraffic, lease: Counted, record: TrafficRecord | undefined, all: TrafficRecord) {
    this.#traffic = traffic
    this.#lease = lease
    this.#record = record
    this.#all = all
    this.#add(1)
  }

  carry(received: number, sent: number): void {
    this.#traffic.carry(this.#lease, received, sent)
  }

  end(): void {
    this.#add(-1)
  }

  #add(change: number): void {
    this.#all.open += change
    if (this.#record !== undefined) this.#record.open += change
  }
}

/** Counts of one identity that wait to be told before they are summed. */
const UNTOLD_MAX = 256

function sumOf(counts: readonly TrafficCounts[]): TrafficCounts {
  const sum = { received: 0, sent: 0, connections: 0, marks: unionOf(counts.flatMap(({ marks }) => marks)) }
  for (const { received, sent, connections } of counts) {
    sum.received += received
    sum.sent += sent
    sum.connections += connections
  }
  return sum
}
