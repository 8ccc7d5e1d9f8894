// The traffic of one identity's visitors, or of all: 24 hours of sums, and the bytes of the last seconds.

import type { HourTraffic, LeaseTraffic, TrafficSum } from '@svc/protocol'
import { toWallTime } from '../clock.ts'
import { addMark, countVisitors, marksOf, SKETCH_BYTES } from './visitor-sketch.ts'

/** Hours that are kept, the current one included. */
export const TRAFFIC_HOURS = 24
export const HOUR_MS = 3_600_000
/** Samples that make the bytes per second, beside the one that is being taken. */
export const SAMPLES = 5
const SLOTS: number = SAMPLES + 1

/** Sums of each hour, side by side. */
const FIELDS = 3
const [RECEIVED, SENT, CONNECTIONS] = [0, 1, 2]

/** The moment that a record is read or written at. */
export interface Moment {
  /** Hours since the epoch, of relay time. */
  hour: number
  /** Number of the sample that is being taken. */
  sample: number
  /** Seconds that the {@link SAMPLES} before it took together. */
  seconds: number
}

/** What was counted since the last time. */
export interface TrafficCounts {
  received: number
  sent: number
  /** Connections that began. */
  connections: number
  /** What the visitors' networks do to the sketch of all visitors. */
  marks: readonly number[]
}

/** The sums of one hour, to be kept over a restart. */
export interface StoredHour extends TrafficCounts {
  /** Hours since the epoch, of relay time. */
  hour: number
}

export class TrafficRecord {
  /** Open connections, and those of them at other machines. */
  open = 0
  openElsewhere = 0
  readonly #sums = new Float64Array(TRAFFIC_HOURS * FIELDS)
  readonly #sketches = new Uint8Array(TRAFFIC_HOURS * SKETCH_BYTES)
  /** Bytes of each sample: received, and sent. */
  readonly #recent = new Float64Array(2 * SLOTS)
  #hour = 0
  #sample = 0
  #lastHour = 0

  /** Hours since the epoch, of the last bytes or connection. */
  get lastHour(): number {
    return this.#lastHour
  }

  /** @param marks of the visitors' networks, as `markOf` makes them */
  add(at: Moment, counts: TrafficCounts): void {
    this.#advance(at)
    this.#lastHour = at.hour
    this.#addTo(at.hour % TRAFFIC_HOURS, counts)
    const slot = 2 * (at.sample % SLOTS)
    this.#recent[slot]! += counts.received
    this.#recent[slot + 1]! += counts.sent
  }

  read(at: Moment): LeaseTraffic {
    this.#advance(at)
    const [received, sent] = this.#rates(at)
    return {
      open_connections: Math.max(0, this.open),
      received_bps: received,
      sent_bps: sent,
      day: this.#sumOf(this.#sums, this.#sketches),
    }
  }

  /** Every hour, the oldest first. */
  hours(at: Moment): HourTraffic[] {
    this.#advance(at)
    return hoursBefore(at, (hour) => {
      const slot = hour % TRAFFIC_HOURS
      return this.#sumOf(this.#sums.subarray(slot * FIELDS, (slot + 1) * FIELDS), this.#sketchOf(slot))
    })
  }

  /** The hours in which something came, the oldest first. */
  stored(at: Moment): StoredHour[] {
    this.#advance(at)
    const hours: StoredHour[] = []
    for (let hour = at.hour - TRAFFIC_HOURS + 1; hour <= at.hour; hour++) {
      const slot = hour % TRAFFIC_HOURS
      const [received = 0, sent = 0, connections = 0] = this.#sums.subarray(
        slot * FIELDS,
        (slot + 1) * FIELDS,
      )
      if (received + sent + connections > 0)
        hours.push({ hour, received, sent, connections, marks: marksOf(this.#sketchOf(slot)) })
    }
    return hours
  }

  /** Adds an hour that was stored, unless it is over, or in the future since the clock was set. */
  restore(at: Moment, { hour, received, sent, connections, marks }: StoredHour): void {
    if (hour > at.hour || hour <= at.hour - TRAFFIC_HOURS) return
    this.#advance(at)
    this.#lastHour = Math.max(this.#lastHour, hour)
    this.#addTo(hour % TRAFFIC_HOURS, { received, sent, connections, marks })
  }

  #addTo(slot: number, { received, sent, connections, marks }: TrafficCounts): void {
    this.#sums[slot * FIELDS + RECEIVED]! += received
    this.#sums[slot * FIELDS + SENT]! += sent
    this.#sums[slot * FIELDS + CONNECTIONS]! += connections
    const sketch = this.#sketchOf(slot)
    for (const mark of marks) addMark(sketch, mark)
  }

  #rates({ sample, seconds }: Moment): [received: number, sent: number] {
    if (seconds === 0) return [0, 0]
    let [received, sent] = [0, 0]
    for (let slot = 0; slot < SLOTS; slot++) {
      if (slot === sample % SLOTS) continue
      received += this.#recent[2 * slot]!
      sent += this.#recent[2 * slot + 1]!
    }
    return [Math.round(received / seconds), Math.round(sent / seconds)]
  }

  #sumOf(sums: Float64Array, sketches: Uint8Array): TrafficSum {
    const sum = { received_bytes: 0, sent_bytes: 0, connections: 0, visitors: countVisitors(sketches) }
    for (let at = 0; at < sums.length; at += FIELDS) {
      sum.received_bytes += sums[at + RECEIVED]!
      sum.sent_bytes += sums[at + SENT]!
      sum.connections += sums[at + CONNECTIONS]!
    }
    return sum
  }

  #sketchOf(slot: number): Uint8Array {
    return this.#sketches.subarray(slot * SKETCH_BYTES, (slot + 1) * SKETCH_BYTES)
  }

  /** Clears what a later hour or sample takes the place of. */
  #advance({ hour, sample }: Moment): void {
    for (let next = Math.max(this.#hour + 1, hour - TRAFFIC_HOURS + 1); next <= hour; next++) {
      const slot = next % TRAFFIC_HOURS
      this.#sums.fill(0, slot * FIELDS, (slot + 1) * FIELDS)
      this.#sketchOf(slot).fill(0)
    }
    this.#hour = hour
    for (let next = Math.max(this.#sample + 1, sample - SLOTS + 1); next <= sample; next++)
      this.#recent.fill(0, 2 * (next % SLOTS), 2 * (next % SLOTS) + 2)
    this.#sample = sample
  }
}

/** The {@link TRAFFIC_HOURS} up to now, the oldest first. */
export function hoursBefore({ hour }: Moment, sumOf: (hour: number) => TrafficSum): HourTraffic[] {
  return Array.from({ length: TRAFFIC_HOURS }, (_, index) => {
    const one = hour - TRAFFIC_HOURS + 1 + index
    return { at: new Date(toWallTime(one * HOUR_MS)).toISOString(), ...sumOf(one) }
  })
}
