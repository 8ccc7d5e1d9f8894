// Keeps this machine in step with Redis: applies the stream of changes, and reads or writes everything when that is not
// enough.

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../../core/log/log.ts'
import { CHANGE_REACHED_MS, CHANGES_PER_READ, LOCK_MS, REDIS_RETRY_MS } from '../limits.ts'
import type { RedisKeys } from './keys.ts'
import { type Change, type RedisClient, RedisError, type RedisState } from './redis-client.ts'

/** The parts of the relay that apply changes, read Redis's state, and write it again. */
export interface SharedState {
  /**
   * Applies changes that other machines made, in order.
   * @throws RedisError when it needs Redis, which does not answer
   */
  apply(changes: readonly Change[]): Promise<void>
  /** Reads everything. @returns the argument of {@link fill} @throws RedisError */
  load(): Promise<unknown>
  /** Writes what Redis lacks, but replaces nothing newer. @throws RedisError */
  fill(loaded: unknown): Promise<void>
  /** Sends what could not be sent while Redis was down. @throws RedisError */
  flush(): Promise<void>
  /** Called when Redis has lost everything. */
  forget(): void
}

interface ChangeFeedParts {
  run: string
  redis: RedisClient
  keys: RedisKeys
  state: SharedState
  /** Asks Redis for its state. @throws RedisError */
  beat: () => Promise<RedisState>
  /** Called when this machine gets in step with Redis, or out of step. */
  onStep: () => void
  log: Logger
}

const FILL_LOCK = 'fill'

export class ChangeFeed {
  readonly counts = { resyncs: 0, changes: 0 }
  readonly #parts: ChangeFeedParts
  readonly #closing = new AbortController()
  #epoch: string | undefined
  /** The last epoch with which this machine was in step. */
  #lastEpoch: string | undefined
  /** Id of the last change that was applied. */
  #position = '0-0'
  #running: Promise<void> = Promise.resolve()
  readonly #waiting = new Set<{ change: string; resolve: (isFollowed: boolean) => void }>()

  constructor(parts: ChangeFeedParts) {
    this.#parts = parts
  }

  /** The epoch of Redis with which this machine is in step; undefined while it is in step with none. */
  get epoch(): string | undefined {
    return this.#epoch
  }

  /** Resolves when this machine is in step for the first time. @throws RedisError */
  async start(): Promise<void> {
    await this.#resync()
    this.#parts.redis.on('down', () => this.#lose())
    this.#running = this.#readChanges()
  }

  /** Checks after each heartbeat whether Redis has lost data. */
  check({ epoch, lastChange }: RedisState): void {
    if (this.#epoch === undefined) return
    if (epoch !== this.#epoch || isBefore(lastChange, this.#position)) this.#lose()
  }

  /**
   * Waits at most {@link CHANGE_REACHED_MS} until the change is applied here; not at all while this machine is out of
   * step.
   * @returns whether it was applied
   */
  async reached(change: string): Promise<boolean> {
    if (!isBefore(this.#position, change)) return true
    if (this.#epoch === undefined) return false
    return await new Promise<boolean>((resolve) => {
      const waiting = { change, resolve }
      this.#waiting.add(waiting)
      const late = (): void => {
        this.#waiting.delete(waiting)
        resolve(false)
      }
      setTimeout(late, CHANGE_REACHED_MS).unref()
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#lose()
    await this.#running
  }

  async #readChanges(): Promise<void> {
    const { redis, keys, log } = this.#parts
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        if (this.#epoch === undefined) await this.#resync()
        const changes = await redis.changesAfter(keys.changes, this.#position)
        if (changes.length > 0) await this.#take(changes)
        // Entries may have been dropped before they were read.
        if (changes.length === CHANGES_PER_READ && (await this.#hasGap())) this.#lose()
      } catch (error) {
        if (!(error instanceof RedisError) && !signal.aborted)
          log.error({ err: error }, 'a change of another machine could not be applied')
        this.#lose()
        await pause(REDIS_RETRY_MS, undefined, { signal, ref: false }).catch(() => {})
      }
    }
  }

  async #take(changes: readonly Change[]): Promise<void> {
    const { state, run } = this.#parts
    await state.apply(changes.filter(({ from }) => from !== run))
    this.counts.changes += changes.length
    this.#position = changes.at(-1)?.id ?? this.#position
    this.#release()
  }

  /** Resolves the waits for changes that are now applied. */
  #release(): void {
    for (const waiting of this.#waiting)
      if (!isBefore(this.#position, waiting.change)) {
        this.#waiting.delete(waiting)
        waiting.resolve(true)
      }
  }

  /** No change is applied until this machine is in step again. */
  #lose(): void {
    if (this.#epoch === undefined) return
    this.#epoch = undefined
    for (const { resolve } of this.#waiting) resolve(false)
    this.#waiting.clear()
    this.#parts.onStep()
  }

  async #resync(): Promise<void> {
    const { beat, state, log } = this.#parts
    let redis = await beat()
    const isInStep =
      redis.epoch !== '' && redis.epoch === this.#lastEpoch && !isBefore(redis.lastChange, this.#position)
    if (!isInStep || (await this.#hasGap())) {
      this.counts.resyncs += 1
      if (this.#lastEpoch !== undefined) log.warn('Redis has other data than before: the relay fills it')
      if (redis.epoch === '') redis = await this.#fillEmpty()
      const loaded = await state.load()
      await state.fill(loaded)
      this.#position = redis.lastChange
    }
    await state.flush()
    this.#lastEpoch = redis.epoch
    this.#epoch = redis.epoch
    this.#release()
    this.#parts.onStep()
  }

  /**
   * One machine fills an empty Redis, then gives it its epoch; no machine registers a lease before.
   * @returns its state
   */
  async #fillEmpty(): Promise<RedisState> {
    const { redis, keys, state, beat } = this.#parts
    for (;;) {
      this.#closing.signal.throwIfAborted()
      const isFirst = await redis.command('SET', keys.lock(FILL_LOCK), this.#parts.run, 'NX', 'PX', LOCK_MS)
      const known = await beat()
      if (known.epoch !== '') return known
      if (isFirst !== null) {
        state.forget()
        await state.fill(await state.load())
        await redis.command('SET', keys.epoch, randomUUID(), 'NX')
        await redis.command('DEL', keys.lock(FILL_LOCK))
        return await beat()
      }
      await pause(REDIS_RETRY_MS, undefined, { ref: false })
    }
  }

  /** Whether the stream begins after the last change that was applied. */
  async #hasGap(): Promise<boolean> {
    const { redis, keys } = this.#parts
    const [first] = await redis.changesBetween(keys.changes, '-', '+', 1)
    // There is no gap before the first change.
    return first !== undefined && isBefore(this.#position, first.id) && this.#position !== '0-0'
  }
}

/** Whether one id of the stream comes before another: `<milliseconds>-<number>`. */
export function isBefore(one: string, other: string): boolean {
  const [time = 0, sequence = 0] = one.split('-').map(Number)
  const [otherTime = 0, otherSequence = 0] = other.split('-').map(Number)
  return time < otherTime || (time === otherTime && sequence < otherSequence)
}
