// A relay whose memory, processor time and longest turn are measured while a crowd comes, and while it stays.
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { BenchRelay } from '../carrier/relay.ts'
import { type Crowd, gather } from './crowd.ts'
import type { Figures } from './probe.ts'

/** Milliseconds in which new connections come to rest, and after which garbage is collected while they come. */
const SETTLE_MS = 2_000
const PROBED = ['--expose-gc', '--import', path.join(import.meta.dirname, 'probe.ts')]

/** Figures of the relay between two looks at it. */
export interface Change {
  cpuMs: number
  turnMs: number
  /** KB by which the process grew. */
  grownKb: number
}

export class ScaledRelay {
  readonly #relay: BenchRelay
  #last: Figures

  private constructor(relay: BenchRelay, first: Figures) {
    this.#relay = relay
    this.#last = first
  }

  static async start(): Promise<ScaledRelay> {
    const relay = await BenchRelay.start({ execArgv: PROBED })
    return new ScaledRelay(relay, await figuresOf(relay))
  }

  /** @param program the file of the clients' process */
  async comes(
    program: string,
    network: number,
    count: number,
    sites: { sites: number; connected: number; prefix: string },
  ): Promise<Change & { crowd: Crowd }> {
    const { url } = this.#relay
    const over = new AbortController()
    const turns: number[] = []
    const looking = (async () => {
      while (!over.signal.aborted) turns.push((await figuresOf(this.#relay)).turnMs)
    })()
    const crowd = await gather(program, network, count, { url, ca: await this.#relay.ca(), ...sites })
    over.abort()
    await looking
    const change = await this.#change()
    return { ...change, turnMs: Math.max(change.turnMs, ...turns), crowd }
  }

  /** Lets this many milliseconds pass. */
  async stays(ms: number): Promise<Change> {
    await pause(ms - SETTLE_MS)
    return await this.#change()
  }

  stop(): Promise<void> {
    return this.#relay.stop()
  }

  async #change(): Promise<Change> {
    const [before, after] = [this.#last, await figuresOf(this.#relay)]
    this.#last = after
    const grown = Math.max(after.rss - before.rss, after.heap - before.heap)
    return { cpuMs: after.cpuMs - before.cpuMs, turnMs: after.turnMs, grownKb: grown / 1024 }
  }
}

async function figuresOf(relay: BenchRelay): Promise<Figures> {
  await pause(SETTLE_MS)
  const figures = relay.line<Figures>('figures')
  process.kill(relay.pid, 'SIGUSR2')
  return await figures
}
