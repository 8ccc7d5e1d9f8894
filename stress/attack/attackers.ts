// The attackers, seen from the process that has the honest visitors.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Facts } from './attack.ts'
import type { Order } from './attacker-process.ts'

/** Attackers have this long to come to an end and to tell what they did. */
const END_MS = 15_000
const LOOK_MS = 200

export class Attackers {
  readonly #child: ChildProcess
  readonly #gone: Promise<unknown>

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#gone = once(child, 'exit')
  }

  /** Resolves when they are ready. @param name of the attack's file */
  static async gather(name: string): Promise<Attackers> {
    const script = path.join(import.meta.dirname, 'attacker-process.ts')
    const child = fork(script, [name], { stdio: 'inherit' })
    const attackers = new Attackers(child)
    await Promise.race([once(child, 'message'), attackers.#gone])
    return attackers
  }

  /**
   * Resolves when they are gone.
   * @param isTooMuch ends them early
   * @returns what they did; undefined when they had to be ended
   */
  async attack(order: Order, isTooMuch: () => boolean): Promise<Facts | undefined> {
    const child = this.#child
    const late = setTimeout(() => child.kill('SIGKILL'), order.seconds * 1000 + END_MS)
    const watch = setInterval(() => {
      if (isTooMuch()) child.kill('SIGKILL')
    }, LOOK_MS)
    try {
      let facts: Facts | undefined
      child.once('message', (told) => {
        facts = told as Facts
      })
      child.send(order)
      await this.#gone
      return facts
    } finally {
      clearTimeout(late)
      clearInterval(watch)
    }
  }
}
