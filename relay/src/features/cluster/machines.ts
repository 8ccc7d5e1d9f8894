// The machines of this relay: each sends a heartbeat to Redis every second, and reads those of the others.

import { now } from '../../core/clock.ts'
import { z } from '../../core/config/schema.ts'
import type { Logger } from '../../core/log/log.ts'
import { HEARTBEAT_MS, MACHINE_GONE_MS, MACHINE_KEPT_MS, MACHINES_MAX } from './limits.ts'
import type { RedisKeys } from './redis/keys.ts'
import type { RedisClient, RedisState } from './redis/redis-client.ts'
import type { RedisClock } from './redis/redis-clock.ts'
import { HEARTBEAT } from './redis/scripts.ts'
import type { HostAndPort } from './settings.ts'
import type { Seal } from './shared/seal.ts'

/** What a machine reports of itself. */
export interface MachineStatus {
  /** Identifies the run of the machine: it changes with a restart. */
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

/**
 * The sealed part of an entry. Its time reveals an old entry that somebody puts back: that machine counts as gone.
 */
interface MachineEntry extends MachineStatus {
  name: string
  /** By Redis's clock. */
  seen: number
}

const entrySchema: z.ZodType<MachineEntry> = schema.and(z.object({ name: z.string(), seen: z.number() }))

export interface Machine extends MachineStatus {
  /** CLUSTER_ADDR of the machine. */
  name: string
  /** Relay time of its last heartbeat. */
  seenAt: number
}

interface MachinesParts {
  name: string
  redis: RedisClient
  keys: RedisKeys
  seal: Seal
  clock: RedisClock
  status: () => MachineStatus
  log: Logger
}

export class KnownMachines {
  readonly name: string
  readonly #parts: MachinesParts
  /** By name, as the last heartbeat read them. */
  #others = new Map<string, Machine>()
  /** Relay time of the last heartbeat that Redis has answered. */
  #lastBeat = 0
  #timer: NodeJS.Timeout | undefined
  #onBeat: ((state: RedisState) => void) | undefined

  constructor(parts: MachinesParts) {
    this.#parts = parts
    this.name = parts.name
  }

  /** @param listener called after each heartbeat */
  onBeat(listener: (state: RedisState) => void): void {
    this.#onBeat = listener
  }

  /** The other machines, including those that disappeared some time ago. */
  get others(): readonly Machine[] {
    return [...this.#others.values()]
  }

  /** Number of machines that sent a heartbeat in the last few seconds, this one included. */
  get alive(): number {
    return 1 + this.others.filter((machine) => this.isAlive(machine)).length
  }

  /** While Redis does not answer, no heartbeat can be read, and machines that were alive before count as alive. */
  isAlive({ seenAt }: Machine): boolean {
    return this.#lastBeat - seenAt < MACHINE_GONE_MS
  }

  /** @throws RedisError */
  async beat(): Promise<RedisState> {
    const { redis, keys, seal, clock, status, name } = this.#parts
    if (!clock.isKnown) await this.#askTime()
    const askedAt = now()
    const seen = Math.round(clock.toRedis(askedAt))
    const text = JSON.stringify({ ...status(), name, seen } satisfies MachineEntry)
    const ownName = keys.machineName(name)
    const [time, epoch, lastChange, all] = (await redis.run(
      HEARTBEAT,
      { machines: keys.machines, epoch: keys.epoch, changes: keys.changes },
      {
        machine: ownName,
        entry: `${seen} ${seal.close('machine', ownName, `${seen}`, text)}`,
        keptMs: MACHINE_KEPT_MS,
        most: MACHINES_MAX,
      },
    )) as [number, string, string, string[]]
    clock.observe(time, askedAt)
    const others = new Map<string, Machine>()
    const forged: string[] = []
    for (let at = 0; at + 1 < all.length; at += 2) {
      const text = openMachine(seal, all[at]!, all[at + 1]!)
      if (text === undefined) forged.push(all[at]!)
      const machine = text === undefined ? undefined : this.#parse(text)
      if (machine !== undefined && machine.name !== name) others.set(machine.name, machine)
    }
    // Forged entries would take the places of machines.
    if (forged.length > 0) await redis.command('HDEL', keys.machines, ...forged)
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

  /** Removes this machine from the list, so that no other one waits for it. */
  async leave(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { redis, keys, name } = this.#parts
    await redis.command('HDEL', keys.machines, keys.machineName(name)).catch(() => {})
  }

  /** Reads Redis's clock, since the first entry of this machine already contains the time. @throws RedisError */
  async #askTime(): Promise<void> {
    const askedAt = now()
    const [seconds, microseconds] = (await this.#parts.redis.command('TIME')) as [string, string]
    this.#parts.clock.observe(Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000), askedAt)
  }

  #parse(text: string): Machine | undefined {
    const read = parseMachine(text)
    if (read === undefined) {
      this.#parts.log.debug('what another machine says of itself cannot be read')
      return undefined
    }
    const { seen, ...status } = read
    return { ...status, seenAt: this.#parts.clock.toRelay(seen) }
  }
}

/** @param machineName name under which the entry is stored @returns undefined when no machine wrote it there */
export function openMachine(seal: Seal, machineName: string, entry: string): string | undefined {
  const [seen = '', sealed = ''] = entry.split(' ')
  return seal.open('machine', machineName, seen, sealed)
}

/** @returns undefined for an entry of another version */
export function parseMachine(text: string): MachineEntry | undefined {
  return entrySchema.safeParse(JSON.parse(text)).data
}

/** @returns undefined for a name that is not an address */
export function addressOf(name: string): HostAndPort | undefined {
  const [, inBrackets, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(name) ?? []
  const host = inBrackets ?? plain
  return host === undefined ? undefined : { host, port: Number(port) }
}
