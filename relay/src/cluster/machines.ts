// The machines of this relay: each says every second that it is there, and reads which others are.

import { now } from '../clock.ts'
import type { HostAndPort } from '../config/cluster-settings.ts'
import { z } from '../config/schema.ts'
import type { Logger } from '../log/log.ts'
import type { Engine, EngineState } from './engine/engine.ts'
import type { EngineClock } from './engine/engine-clock.ts'
import type { EngineKeys } from './engine/keys.ts'
import { HEARTBEAT } from './engine/scripts.ts'
import { HEARTBEAT_MS, MACHINE_GONE_MS, MACHINE_KEPT_MS, MACHINE_MAX_BYTES, MACHINES_MAX } from './limits.ts'

/** What a machine says of itself. */
export interface MachineStatus {
  /** Names the start of the machine: it is another one after a restart. */
  run: string
  release: string
  isDraining: boolean
  /** Wall clock. */
  startedAt: number
  carriers: number
  readySessions: number
  visitors: number
  /** Bytes since its start. */
  fromVisitors: number
  toVisitors: number
  /** Bytes of its disk that the static cache uses, and those that it may use. */
  cacheUsed: number
  cacheMax: number
}

const count = z.number().nonnegative()
const schema: z.ZodType<MachineStatus> = z.object({
  run: z.string(),
  release: z.string(),
  isDraining: z.boolean(),
  startedAt: z.number(),
  carriers: count,
  readySessions: count,
  visitors: count,
  fromVisitors: count,
  toVisitors: count,
  cacheUsed: count.default(0),
  cacheMax: count.default(0),
})

export interface Machine extends MachineStatus {
  /** CLUSTER_ADDR of the machine. */
  name: string
  /** Relay time of its last sign. */
  seenAt: number
}

interface MachinesParts {
  name: string
  engine: Engine
  keys: EngineKeys
  clock: EngineClock
  status: () => MachineStatus
  log: Logger
}

export class Machines {
  readonly name: string
  readonly #parts: MachinesParts
  /** By name; those of the last heartbeat. */
  #others = new Map<string, Machine>()
  /** Relay time of the last heartbeat that the engine has answered. */
  #lastBeat = 0
  #timer: NodeJS.Timeout | undefined
  #onBeat: ((state: EngineState) => void) | undefined

  constructor(parts: MachinesParts) {
    this.#parts = parts
    this.name = parts.name
  }

  /** @param listener called after each heartbeat */
  onBeat(listener: (state: EngineState) => void): void {
    this.#onBeat = listener
  }

  /** Other machines, also those that are gone since a while. */
  get others(): readonly Machine[] {
    return [...this.#others.values()]
  }

  /** Machines that have said within the last seconds that they are there, this one included. */
  get alive(): number {
    return 1 + this.others.filter((machine) => this.isAlive(machine)).length
  }

  /** While the engine does not answer, nobody is heard, and those who were alive before count as alive. */
  isAlive({ seenAt }: Machine): boolean {
    return this.#lastBeat - seenAt < MACHINE_GONE_MS
  }

  /** @throws EngineError */
  async beat(): Promise<EngineState> {
    const { engine, keys, clock, status, name } = this.#parts
    const askedAt = now()
    const text = JSON.stringify(status())
    const [time, epoch, lastChange, all] = (await engine.run(
      HEARTBEAT,
      [keys.machines, keys.epoch, keys.changes],
      [name, text.slice(0, MACHINE_MAX_BYTES), MACHINE_KEPT_MS, MACHINES_MAX],
    )) as [number, string, string, string[]]
    clock.observe(time, askedAt)
    const others = new Map<string, Machine>()
    for (let at = 0; at + 1 < all.length; at += 2) {
      const machine = this.#parse(all[at]!, all[at + 1]!)
      if (machine !== undefined && machine.name !== name) others.set(machine.name, machine)
    }
    this.#lastBeat = now()
    this.#others = others
    const state = { epoch, lastChange }
    this.#onBeat?.(state)
    return state
  }

  start(): void {
    const beat = async (): Promise<void> => {
      await this.beat().catch(() => {})
      if (this.#timer !== undefined) this.#timer = setTimeout(beat, HEARTBEAT_MS).unref()
    }
    this.#timer = setTimeout(beat, HEARTBEAT_MS).unref()
  }

  /** Takes this machine off the list, so that nobody waits for it. */
  async leave(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { engine, keys, name } = this.#parts
    await engine.command('HDEL', keys.machines, name).catch(() => {})
  }

  #parse(name: string, entry: string): Machine | undefined {
    const space = entry.indexOf(' ')
    try {
      const status = schema.parse(JSON.parse(entry.slice(space + 1)))
      return { ...status, name, seenAt: this.#parts.clock.toRelay(Number(entry.slice(0, space))) }
    } catch {
      this.#parts.log.debug({ machine: name }, 'what another machine says of itself cannot be read')
      return undefined
    }
  }
}

/** @returns undefined for a name that is no address */
export function addressOf(name: string): HostAndPort | undefined {
  const [, inBrackets, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(name) ?? []
  const host = inBrackets ?? plain
  return host === undefined ? undefined : { host, port: Number(port) }
}
