// Starts the authoritative DNS server, and sends it the changes of the zone. It runs in a thread, so that the program's other work
// does not delay answers, and a flood of queries does not block the program.

import { setTimeout as sleep } from 'node:timers/promises'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { hostPort } from '@svc/node-kit/host-port'
import type { ZoneChange } from '../zone/answer.ts'
import type { ZoneParameters } from '../zone/zone.ts'
import { type DnsCounts, noCounts, RESULTS } from './counts.ts'
import {
  CHANGES_PER_MESSAGE,
  RESTART_DELAY_MAX_MS,
  RESTART_DELAY_MIN_MS,
  THREAD_DEADLINE_MS,
  YOUNG_GENERATION_MAX_MB,
} from './limits.ts'
import type { BoundAddress, DnsAddress } from './listeners.ts'
import type { ResponseRates } from './response-rate.ts'
import { type FromThread, sentChange, type ThreadData, type ToThread } from './thread-messages.ts'

/** The part of a structured log, such as pino, that the server needs. */
export interface DnsLog {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** The options of {@link startDnsServer}. */
export interface DnsServerOptions {
  zone: ZoneParameters
  addresses: readonly DnsAddress[]
  /** The name of the setting with the addresses, for messages. */
  setting: string
  /**
   * Returns the changes that fill an empty zone: at the start, and when a crashed thread is restarted. It must include
   * the changes passed to {@link DnsServer.apply}.
   */
  records(): Iterable<ZoneChange>
  log: DnsLog
  /** The arguments of `new Worker` for `@svc/dns/thread`. */
  code: { script: string | URL; options: WorkerOptions }
  /** The rates of answers to one network; for benchmarks. */
  rates?: Partial<ResponseRates>
  /** The interval for retrying an address, in milliseconds; for tests. */
  rebindMs?: number
}

/** A running server. */
export interface DnsServer {
  /** The addresses at which it currently listens. */
  readonly bound: readonly BoundAddress[]
  /** The counters, as last reported by the thread. */
  readonly counts: DnsCounts
  /**
   * Applies changes. Resolves when the server answers with them.
   * @throws Error when the zone refuses one of them (it may then have made the others), when the server is closed, or when it
   *   does not answer in time
   */
  apply(changes: Iterable<ZoneChange>): Promise<void>
  close(): Promise<void>
}

/**
 * Resolves when each address was tried. Addresses that cannot be bound are logged and retried, while the relay keeps running.
 * @throws Error when the thread does not start
 */
export async function startDnsServer(options: DnsServerOptions): Promise<DnsServer> {
  const server = new ThreadedDnsServer(options)
  try {
    await server.start()
  } catch (error) {
    await server.close()
    throw error
  }
  return server
}

interface Waiting extends PromiseWithResolvers<void> {
  /** The number of the first message with these changes. */
  first: number
  /** Why the zone refused the first refused change. */
  problem: string | undefined
}

class ThreadedDnsServer implements DnsServer {
  readonly #options: DnsServerOptions
  readonly #bound = new Map<string, BoundAddress>()
  /** Changes that the thread has not applied yet, by the number of their last message. */
  readonly #waiting = new Map<number, Waiting>()
  #counts: DnsCounts = noCounts()
  /** The counters of crashed threads. */
  #earlier: DnsCounts = noCounts()
  #thread: Worker | undefined
  #lastId = 0
  #restart: NodeJS.Timeout | undefined
  #restartDelayMs = RESTART_DELAY_MIN_MS
  #isClosed = false

  constructor(options: DnsServerOptions) {
    this.#options = options
  }

  get bound(): BoundAddress[] {
    return [...this.#bound.values()]
  }

  get counts(): DnsCounts {
    return sumOf(this.#earlier, this.#counts)
  }

  async start(): Promise<void> {
    const { zone, addresses, rates, rebindMs, records, code } = this.#options
    const { script, options } = code
    const workerData: ThreadData = { zone, addresses, rates, rebindMs }
    // The thread needs neither the program's settings nor its command-line options.
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_GENERATION_MAX_MB }
    const thread = new Worker(script, { env: {}, execArgv: [], workerData, resourceLimits, ...options })
    this.#thread = thread
    const listening = Promise.withResolvers<void>()
    thread.on('message', (message: FromThread) => {
      if (message.kind === 'listening') listening.resolve()
      else this.#onMessage(message)
    })
    thread.on('error', (error) => listening.reject(error))
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = undefined
      listening.reject(new Error('the thread of the DNS server ended'))
    })
    this.#post(records())
    thread.postMessage({ kind: 'listen' } satisfies ToThread)
    try {
      await within(listening.promise, 'the DNS server does not start')
    } catch (error) {
      await thread.terminate()
      throw error
    }
    if (this.#isClosed) return
    this.#restartDelayMs = RESTART_DELAY_MIN_MS
    thread.on('error', (error) => this.#options.log.error({ err: error }, 'DNS: the server broke'))
    thread.once('exit', () => this.#onExit())
  }

  async apply(changes: Iterable<ZoneChange>): Promise<void> {
    if (this.#isClosed) throw closed()
    const first = this.#lastId + 1
    const id = this.#post(changes)
    const taken = Promise.withResolvers<void>()
    this.#waiting.set(id, { first, problem: undefined, ...taken })
    try {
      await within(taken.promise, 'the DNS server takes no changes')
    } catch (error) {
      // Restarts a hanging thread, with all records.
      if (this.#waiting.delete(id)) await this.#thread?.terminate()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restart)
    const thread = this.#thread
    this.#thread = undefined
    if (thread !== undefined) {
      const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
      thread.postMessage({ kind: 'close' } satisfies ToThread)
      await within(ended, 'the DNS server does not end').catch(() => thread.terminate())
    }
    for (const { reject } of this.#waiting.values()) reject(closed())
    this.#waiting.clear()
    this.#bound.clear()
  }

  /**
   * Without a thread it posts nothing: the next thread gets these changes with its records.
   * @returns the number with which the thread, or the next one, confirms them
   */
  #post(changes: Iterable<ZoneChange>): number {
    let some: ZoneChange[] = []
    const flush = (): void => {
      const message: ToThread = { kind: 'apply', id: ++this.#lastId, changes: some.map(sentChange) }
      this.#thread?.postMessage(message)
      some = []
    }
    for (const change of changes) if (some.push(change) === CHANGES_PER_MESSAGE) flush()
    flush()
    return this.#lastId
  }

  #onMessage(message: FromThread): void {
    const { log } = this.#options
    if (message.kind === 'applied') this.#onApplied(message)
    if (message.kind === 'counts') this.#counts = message.counts
    if (message.kind === 'failed') log.error({}, `DNS: an error in the zone: ${message.message}`)
    if (message.kind !== 'bound' && message.kind !== 'unbound') return
    const address = hostPort(message.address.host, message.address.port)
    if (message.kind === 'bound') {
      this.#bound.set(address, message.address)
      log.info({ address }, 'DNS: listening')
    } else {
      this.#bound.delete(address)
      log.error({ address }, `DNS: ${bindProblem(message, this.#options.setting)}`)
    }
  }

  /** Handles a confirmation; changes are applied in order. */
  #onApplied({ id, problem }: Extract<FromThread, { kind: 'applied' }>): void {
    if (problem !== undefined) this.#onRefused(id, problem)
    for (const [last, waiting] of this.#waiting) {
      if (last > id) return
      this.#waiting.delete(last)
      if (waiting.problem === undefined) waiting.resolve()
      else waiting.reject(new Error(waiting.problem))
    }
  }

  /** The initial records of a new thread have no waiting caller. */
  #onRefused(id: number, problem: string): void {
    const waiting = [...this.#waiting].find(([last, { first }]) => first <= id && id <= last)?.[1]
    if (waiting === undefined) this.#options.log.error({}, `DNS: a record cannot be in the zone: ${problem}`)
    else waiting.problem ??= problem
  }

  #onExit(): void {
    if (this.#isClosed) return
    this.#thread = undefined
    this.#bound.clear()
    this.#earlier = sumOf(this.#earlier, { ...this.#counts, connections: 0 })
    this.#counts = noCounts()
    this.#options.log.error({}, `DNS: the server ended; it starts again in ${this.#restartDelayMs / 1000} s`)
    this.#restart = setTimeout(() => void this.#startAgain(), this.#restartDelayMs)
    this.#restartDelayMs = Math.min(2 * this.#restartDelayMs, RESTART_DELAY_MAX_MS)
  }

  async #startAgain(): Promise<void> {
    const delayMs = this.#restartDelayMs
    try {
      await this.start()
    } catch (error) {
      if (this.#isClosed) return
      this.#options.log.error({ err: error }, 'DNS: the server does not start')
      this.#restartDelayMs = delayMs
      this.#onExit()
    }
  }
}

function closed(): Error {
  return new Error('the DNS server is closed')
}

/** Returns the problem of a bind, with advice for the operator. */
function bindProblem(
  { address, code, message }: Extract<FromThread, { kind: 'unbound' }>,
  setting: string,
): string {
  if (code === 'EADDRINUSE')
    return `another program has port ${address.port} of this address: end it, or name other addresses in ${setting}`
  if (code === 'EACCES')
    return `port ${address.port} needs more privileges (CAP_NET_BIND_SERVICE), or another port in ${setting}`
  if (code === 'EADDRNOTAVAIL') return `this machine does not have this address: name others in ${setting}`
  return `it cannot listen: ${message}`
}

function sumOf(one: DnsCounts, other: DnsCounts): DnsCounts {
  const sum = noCounts()
  for (const result of RESULTS) sum.queries[result] = one.queries[result] + other.queries[result]
  sum.overTcp = one.overTcp + other.overTcp
  sum.connections = one.connections + other.connections
  return sum
}

/** @throws Error when it takes longer than `THREAD_DEADLINE_MS` */
async function within<T>(work: Promise<T>, otherwise: string): Promise<T> {
  const ended = new AbortController()
  const late = sleep(THREAD_DEADLINE_MS, undefined, { signal: ended.signal }).then(() => {
    throw new Error(otherwise)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    late.catch(() => {})
    ended.abort()
  }
}
