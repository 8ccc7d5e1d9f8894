// Visitors who come again and again, and compare what they get with what they sent.
import { randomBytes } from 'node:crypto'
import type { Site } from '@svc/sdk-node'
import type { FaultyRelay } from '../../tools/relay/faulty-relay.ts'
import { type Visitor, visitorOf } from '../../tools/site/node-site.ts'
import { inTime, requireBytes, WrongBytes } from '../honest-visitor.ts'
import type { Faults } from './faults.ts'
import type { Random } from './random.ts'

const BODY_MAX_BYTES: number = 4 * 1024 * 1024
/** A visit that a fault has reached is given up after this: no answer would come. */
const VISIT_DEADLINE_MS = 60_000
/** A visitor's pause between two visits, at most. */
const PAUSE_MAX_MS = 200

export class Visitors {
  served = 0
  /** Visits that a fault interrupted, which is no mistake of relay or SDK. */
  interrupted = 0
  readonly #site: Site
  readonly #relay: FaultyRelay
  readonly #faults: Faults
  readonly #random: Random
  #wrongBytes: WrongBytes | undefined

  constructor(site: Site, relay: FaultyRelay, faults: Faults, random: Random) {
    this.#site = site
    this.#relay = relay
    this.#faults = faults
    this.#random = random
  }

  /** @throws Error when a body differs, or when a visit fails though there was no fault */
  async run(until: number): Promise<void> {
    while (Date.now() < until) {
      if (this.#wrongBytes) throw this.#wrongBytes
      const from = Date.now()
      try {
        await this.visitOnce()
      } catch (error) {
        if (error instanceof WrongBytes || !this.#faults.wereFeltSince(from)) throw error
        this.interrupted += 1
      }
      await new Promise((resolve) => setTimeout(resolve, this.#random.between(0, PAUSE_MAX_MS)))
    }
  }

  /** @returns whether a visitor was served; a body that differs ends `run` */
  async isServed(): Promise<boolean> {
    try {
      await this.visitOnce()
      return true
    } catch (error) {
      if (error instanceof WrongBytes) this.#wrongBytes = error
      return false
    }
  }

  /** A few requests on one connection. */
  async visitOnce(): Promise<void> {
    const visitor = visitorOf(this.#site, this.#relay, 1)
    try {
      for (let left = this.#random.between(1, 4); left > 0; left--) await this.#ask(visitor)
    } finally {
      visitor.close()
    }
  }

  async #ask(visitor: Visitor): Promise<void> {
    const isSmall = this.#random.next() < 0.8
    const body = randomBytes(this.#random.between(1, isSmall ? 20_000 : BODY_MAX_BYTES))
    requireBytes(await inTime(visitor.get('/echo', body), VISIT_DEADLINE_MS), body)
    this.served += 1
  }
}
