// Tells the other machines what visitors of this one transfer, and counts what those of the others do.

import { z } from '../../../core/config/schema.ts'
import type { LeaseRegistry } from '../../../core/lease/lease-registry.ts'
import type { LeaseTraffic } from '../../../core/traffic/lease-traffic.ts'
import { isMark } from '../../../core/traffic/visitor-sketch.ts'
import { TRAFFIC_LEASES_PER_MESSAGE, TRAFFIC_SILENT_MS } from '../limits.ts'

const TOPIC = 'traffic'

interface SharedTrafficParts {
  /** Name of this machine. */
  machine: string
  traffic: LeaseTraffic
  leases: Pick<LeaseRegistry, 'ofIdentity'>
  /** Sends a text to the same part of all other machines. */
  publish: (topic: string, text: string) => void
  onTold: (topic: string, listener: (text: string) => void) => void
}

const count = z.number().nonnegative()
const schema = z.object({
  machine: z.string(),
  leases: z.array(
    z.object({
      key: z.string(),
      received: count,
      sent: count,
      connections: count,
      open: count,
      marks: z.array(z.number().refine(isMark)),
    }),
  ),
})

export class SharedTraffic {
  readonly #parts: SharedTrafficParts
  /** By machine, when it told something, in milliseconds of the monotonic clock. */
  readonly #heardAt = new Map<string, number>()

  constructor(parts: SharedTrafficParts) {
    this.#parts = parts
    parts.traffic.share()
    parts.onTold(TOPIC, (text) => this.#receive(text))
    parts.traffic.onSample(() => this.#tell())
  }

  #tell(): void {
    const { machine, traffic, publish } = this.#parts
    const leases = traffic.takeUntold().map(([key, change]) => ({ key, ...change }))
    for (let at = 0; at < Math.max(1, leases.length); at += TRAFFIC_LEASES_PER_MESSAGE) {
      const some = leases.slice(at, at + TRAFFIC_LEASES_PER_MESSAGE)
      publish(TOPIC, JSON.stringify({ machine, leases: some }))
    }
    const silentSince = performance.now() - TRAFFIC_SILENT_MS
    for (const [name, heardAt] of this.#heardAt) {
      if (heardAt > silentSince) continue
      this.#heardAt.delete(name)
      traffic.lost(name, true)
    }
  }

  #receive(text: string): void {
    const { traffic, leases } = this.#parts
    const told = schema.safeParse(JSON.parse(text)).data
    if (told === undefined) return
    this.#heardAt.set(told.machine, performance.now())
    for (const { key, ...change } of told.leases) {
      const lease = leases.ofIdentity(key)
      if (lease !== undefined) traffic.mergeElsewhere(told.machine, lease, change)
    }
  }
}
