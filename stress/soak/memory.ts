// Samples the memory of the relay and of the site's process, and judges whether it grows.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { FaultyRelay } from '../../tools/relay/faulty-relay.ts'

const MB = 1e6
/** The first of them warm up: code is compiled, buffers find their size. */
const WARM_UP_SHARE = 1 / 3
/** Bytes by which the median of the last third may be above that of the second. */
const GROWTH_MAX_BYTES: number = 40 * MB
/** Samples below which there is no verdict. */
const SAMPLES_MIN = 9

interface Sample {
  relay: number
  site: number
}

/** Only what is still referred to is growth: this process also runs the visitors, and its heap is in no hurry to shrink. */
setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

export class Memory {
  readonly #relay: FaultyRelay
  readonly #samples: Sample[] = []

  constructor(relay: FaultyRelay) {
    this.#relay = relay
  }

  async sample(): Promise<string> {
    // a relay that is being started again has no memory to speak of
    const relay = await this.#relay.rss().catch(() => undefined)
    collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    const site = heapUsed + external
    if (relay !== undefined) this.#samples.push({ relay, site })
    return `relay ${megabytes(relay ?? 0)}, site ${megabytes(site)}`
  }

  /** @returns what is wrong; nothing when memory is flat */
  verdict(): string[] {
    if (this.#samples.length < SAMPLES_MIN) return []
    const third = Math.floor(this.#samples.length * WARM_UP_SHARE)
    return (['relay', 'site'] as const).flatMap((name) => {
      const of = (from: number): number =>
        median(this.#samples.slice(from, from + third).map((one) => one[name]))
      const growth = of(2 * third) - of(third)
      return growth > GROWTH_MAX_BYTES ? [`the ${name}'s memory grew by ${megabytes(growth)}`] : []
    })
  }
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function megabytes(bytes: number): string {
  return `${(bytes / MB).toFixed(0)} MB`
}
