// Kills machines and Redis, and lets machines leave, one after the other; remembers when each was gone.
import { setTimeout as pause } from 'node:timers/promises'
import type { Machine } from '../../../tools/relay/machine.ts'
import type { Machines } from '../../../tools/relay/machines.ts'
import type { Random } from '../random.ts'

/** Milliseconds from the begin of one fault to that of the next, or until everything runs again. */
const INTERVAL_MS = 20_000
/** Milliseconds for which what was killed stays dead, at most. */
const DEAD_MAX_MS = 8_000
/** A visitor who connects at this moment may still reach a machine that is about to refuse. */
const NOTICED_MS = 250

interface Absence {
  machine: Machine
  /** When it was killed, or asked to leave, and when it listened again. */
  since: number
  until: number
  isOrderly: boolean
}

export class MachineFaults {
  kills = 0
  redisKills = 0
  drains = 0
  /** The last fault, and when it was. */
  last = 'no fault before'
  readonly #relay: Machines
  readonly #random: Random
  readonly #absences: Absence[] = []

  constructor(relay: Machines, random: Random) {
    this.#relay = relay
    this.#random = random
  }

  /** Machines that take visitors, as far as a load balancer can know. */
  get present(): readonly Machine[] {
    const absent = this.#absences.filter(({ until }) => until > Date.now()).map(({ machine }) => machine)
    return this.#relay.machines.filter((machine) => !absent.includes(machine))
  }

  /**
   * Whether a visit may have been cut off with a machine.
   * @param from when it began
   * @param entry the machine to which it connected; undefined when the load balancer chose
   */
  excuse(from: number, entry: Machine | undefined): boolean {
    const to = Date.now()
    return this.#absences.some(({ machine, since, until, isOrderly }) => {
      const overlaps = since < to && until > from
      if (machine === entry && overlaps) return true
      // Its session may have been at a machine that died meanwhile. One that leaves serves its visitors to their end.
      return !isOrderly && since + NOTICED_MS > from && since < to
    })
  }

  async run(until: number): Promise<void> {
    while (Date.now() + INTERVAL_MS < until) {
      const start = Date.now()
      await this.#random.of(this.#kinds)()
      await pause(Math.max(0, start + INTERVAL_MS - Date.now()))
    }
    await pause(Math.max(0, until - Date.now()))
  }

  readonly #kinds: readonly (() => Promise<void>)[] = [
    () => this.#kill(),
    () => this.#kill(),
    () => this.#killRedis(),
    () => this.#drain(),
  ]

  async #kill(): Promise<void> {
    this.kills += 1
    await this.#without(false, async (machine) => {
      await machine.kill()
      await this.#dead()
    })
  }

  async #drain(): Promise<void> {
    this.drains += 1
    await this.#without(true, async (machine) => {
      await machine.kill('SIGTERM')
    })
  }

  async #killRedis(): Promise<void> {
    const { redis } = this.#relay
    this.redisKills += 1
    this.#note('Redis was killed')
    await redis.kill()
    await this.#dead()
    await redis.restart()
    this.#note('Redis was there again')
  }

  /** Ends a machine, and starts it again. */
  async #without(isOrderly: boolean, end: (machine: Machine) => Promise<void>): Promise<void> {
    const machine = this.#random.of(this.#relay.machines)
    const absence = { machine, since: Date.now(), until: Number.POSITIVE_INFINITY, isOrderly }
    this.#absences.push(absence)
    this.#note(`${machine.name} ${isOrderly ? 'was asked to leave' : 'was killed'}`)
    await end(machine)
    this.#note(`${machine.name} had ended`)
    await machine.restart()
    this.#note(`${machine.name} was there again`)
    absence.until = Date.now()
  }

  #note(what: string): void {
    this.last = `${what} at ${new Date().toISOString()}`
  }

  async #dead(): Promise<void> {
    await pause(this.#random.between(0, DEAD_MAX_MS))
  }
}
