// Collects what visitors transferred since the last report, for another process or machine.

import type { Lease } from '../lease/lease.ts'
import type { CountedConnection, TrafficSink } from './counted-connection.ts'
import type { TrafficCounts } from './traffic-record.ts'
import { markOf, unionOf } from './visitor-sketch.ts'

/** The traffic of a lease since the last report. */
export interface TrafficChange extends TrafficCounts {
  /** Open connections at this moment. */
  open: number
}

type Change = TrafficChange & { marks: number[] }

export class TrafficChanges implements TrafficSink {
  readonly #key: Uint8Array
  readonly #changes = new Map<Lease, Change>()

  /** @param key that of the process that gets the reports */
  constructor(key: Uint8Array) {
    this.#key = key
  }

  connect(lease: Lease, network: string | undefined, isNew: boolean): CountedConnection {
    const change = this.#changeOf(lease)
    change.open += 1
    if (isNew) change.connections += 1
    if (isNew && network !== undefined) change.marks.push(markOf(this.#key, network))
    return {
      carry: (received, sent) => {
        if (received === 0 && sent === 0) return
        const change = this.#changeOf(lease)
        change.received += received
        change.sent += sent
      },
      end: () => {
        this.#changeOf(lease).open -= 1
      },
    }
  }

  /** What has changed. Leases without open connections are then forgotten. */
  take(): [lease: Lease, change: TrafficChange][] {
    const taken = [...this.#changes]
    this.#changes.clear()
    for (const [lease, { open }] of taken) {
      if (open > 0) this.#changes.set(lease, changeWith(open))
    }
    return taken.map(([lease, change]) => [lease, { ...change, marks: unionOf(change.marks) }])
  }

  #changeOf(lease: Lease): Change {
    const known = this.#changes.get(lease)
    if (known !== undefined) return known
    const change = changeWith(0)
    this.#changes.set(lease, change)
    return change
  }
}

function changeWith(open: number): Change {
  return { received: 0, sent: 0, connections: 0, open, marks: [] }
}
