// Client of the Redis or Valkey that the machines share, as one server, behind Sentinels or as a Cluster. The only
// importer of ioredis.

import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs, withTimeout } from '@svc/protocol/timers'
import { Cluster, Redis } from 'ioredis'
import { RelayError, SHARED_STATE_RETRY_S } from '../../../core/errors.ts'
import type { Logger } from '../../../core/log/log.ts'
import {
  CHANGES_BLOCK_MS,
  CHANGES_PER_READ,
  REDIS_COMMAND_MS,
  REDIS_CONNECT_MS,
  REDIS_RETRY_MAX_MS,
  REDIS_RETRY_MS,
} from '../limits.ts'
import type { RedisAddress } from '../settings.ts'
import { inOrder, type Script, type Values } from './script.ts'

/** Thrown for a command that failed, or that Redis may or may not have executed. */
export class RedisError extends Error {
  override readonly name = 'RedisError'
}

/** One entry of the stream of changes. */
export interface Change {
  id: string
  kind: string
  /** Identity key, or name of a file. */
  subject: string
  /** Identifies the run of the machine that made the change. */
  from: string
  entry: string
}

/** Error replies of a server that cannot work now: it is still loading its data, or is no longer the master. */
const UNUSABLE = /^(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|NOREPLICAS|MISCONF)\b/

/** Replies of a server to wrong credentials, which a retry cannot fix. */
const REFUSED = /\b(?:WRONGPASS|NOAUTH|NOPERM)\b|invalid password/

/** The state of Redis that a heartbeat reads. */
export interface RedisState {
  epoch: string
  /** Id of the last change. */
  lastChange: string
}

type Client = Redis | Cluster
type Reply = string | number | null | Reply[]

interface RedisEvents {
  /** Redis answers again, or for the first time. */
  up: []
  /** Redis does not answer. */
  down: []
}

export class RedisClient extends EventEmitter<RedisEvents> {
  readonly counts = { operations: 0, failures: 0 }
  readonly #client: Client
  /** A connection for reading the stream, since such a read blocks it. */
  readonly #reader: Client
  readonly #log: Logger
  readonly #scripts = new Map<string, string>()
  #isUp = false
  /** Why the last connection failed. */
  #problem: Error | undefined
  #isClosed = false

  constructor(address: RedisAddress, log: Logger) {
    super()
    this.#log = log
    this.#client = connect(address)
    this.#reader = connect(address)
    for (const client of [this.#client, this.#reader])
      client.on('error', (error) => {
        this.#problem = error
      })
    this.#client.on('close', () => this.#setUp(false))
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /**
   * Resolves when Redis answers for the first time.
   * @throws RedisError when it does not within `ms`, or refuses the credentials
   */
  async untilUp(ms: number): Promise<void> {
    const end = performance.now() + ms
    for (;;) {
      try {
        await this.command('PING')
        return
      } catch (error) {
        const problem = this.#problem
        if (problem !== undefined && REFUSED.test(problem.message))
          throw new RedisError(`Redis refuses: ${problem.message}`, { cause: problem })
        if (performance.now() > end)
          throw new RedisError(
            problem === undefined
              ? (error as Error).message
              : `${(error as Error).message} (${problem.message})`,
            { cause: error },
          )
        await pause(REDIS_RETRY_MS)
      }
    }
  }

  /** Runs a script of scripts.ts. @throws RedisError when Redis does not answer in time */
  async run<Key extends string, Argument extends string>(
    script: Script<Key, Argument>,
    keys: Values<Key>,
    args: Values<Argument>,
  ): Promise<Reply> {
    const name = this.#scripts.get(script.lua) ?? this.#define(script.lua)
    const client = this.#client as unknown as Record<string, (...all: unknown[]) => Promise<Reply>>
    const names = inOrder(script.keys, keys)
    return await this.#watch(() => client[name]!(names.length, ...names, ...inOrder(script.args, args)))
  }

  /** Runs one command. @throws RedisError when Redis does not answer in time */
  async command(name: string, ...args: (string | number)[]): Promise<Reply> {
    return await this.#watch(() => this.#client.call(name, ...args) as Promise<Reply>)
  }

  /** Waits for the changes after one. Resolves with none after {@link CHANGES_BLOCK_MS}. @throws RedisError */
  async changesAfter(stream: string, id: string): Promise<Change[]> {
    const args = ['COUNT', CHANGES_PER_READ, 'BLOCK', CHANGES_BLOCK_MS, 'STREAMS', stream, id]
    let reply: unknown
    try {
      reply = await within(this.#reader.call('XREAD', ...args), CHANGES_BLOCK_MS + REDIS_COMMAND_MS)
    } catch (error) {
      // A half-open connection would block every later read, too.
      if (error instanceof RedisError && !this.#isClosed) reconnect(this.#reader)
      throw new RedisError('Redis does not answer', { cause: error })
    }
    return entriesOf(reply).map(changeOf)
  }

  /** Entries of the stream from one id to another, both included. */
  async changesBetween(stream: string, from: string, to: string, count: number): Promise<Change[]> {
    const reply = await this.command('XRANGE', stream, from, to, 'COUNT', count)
    return (reply as [string, string[]][]).map(changeOf)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#client.disconnect()
    this.#reader.disconnect()
  }

  #define(lua: string): string {
    const name = `svc${this.#scripts.size}`
    this.#client.defineCommand(name, { lua })
    this.#scripts.set(lua, name)
    return name
  }

  async #watch(send: () => Promise<Reply>): Promise<Reply> {
    this.counts.operations += 1
    try {
      const reply = await within(send(), REDIS_COMMAND_MS)
      this.#setUp(true)
      return reply
    } catch (error) {
      this.counts.failures += 1
      const isUsable = isReply(error) && !UNUSABLE.test(error.message)
      if (!isUsable && !this.#isClosed && (error instanceof RedisError || isReply(error)))
        reconnect(this.#client)
      if (isUsable) throw new RedisError(`Redis refuses: ${error.message}`, { cause: error })
      this.#setUp(false)
      throw new RedisError('Redis does not answer', { cause: error })
    }
  }

  #setUp(isUp: boolean): void {
    if (this.#isUp === isUp || this.#isClosed) return
    this.#isUp = isUp
    if (isUp) this.#log.info('Redis answers')
    else this.#log.warn('Redis does not answer: sites stay online, and new ones have to wait')
    this.emit(isUp ? 'up' : 'down')
  }
}

/** The error for a client whose request needs Redis now. */
export function redisIsDown(): RelayError {
  return new RelayError('feature_unavailable', 'this relay cannot take new sites for a moment', {
    'Retry-After': `${SHARED_STATE_RETRY_S}`,
  })
}

/** @throws RelayError `feature_unavailable` while Redis does not answer */
export async function orDown<T>(reply: Promise<T>): Promise<T> {
  return await reply.catch((error) => {
    throw error instanceof RedisError ? redisIsDown() : error
  })
}

function connect({ kind, nodes, master, usesTls, username, password, database }: RedisAddress): Client {
  const tls = usesTls ? { tls: {} } : {}
  const common = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...tls,
    // Replies have the same shape in every version of Redis.
    protocol: 2 as const,
    connectTimeout: REDIS_CONNECT_MS,
    // A command repeated after a lost answer could be executed twice, so the caller decides.
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: pauseBefore,
  }
  if (kind === 'cluster')
    return new Cluster([...nodes], {
      redisOptions: common,
      enableOfflineQueue: false,
      clusterRetryStrategy: pauseBefore,
    })
  if (kind === 'sentinel')
    return new Redis({
      ...common,
      db: database,
      sentinels: [...nodes],
      name: master ?? '',
      sentinelRetryStrategy: pauseBefore,
      ...(usesTls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
    })
  const [{ host, port } = { host: '', port: 0 }] = nodes
  return new Redis({ ...common, db: database, host, port })
}

function pauseBefore(attempts: number): number {
  return backoffMs(attempts, REDIS_RETRY_MS, REDIS_RETRY_MAX_MS)
}

function reconnect(client: Client): void {
  client.disconnect(true)
}

/** Whether Redis itself answered with an error. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError'
}

function within<T>(work: Promise<T>, ms: number): Promise<T> {
  return withTimeout(work, ms, () => new RedisError('Redis takes too long'))
}

function entriesOf(reply: unknown): [string, string[]][] {
  const [stream] = (reply ?? []) as [string, [string, string[]][]][]
  return stream?.[1] ?? []
}

function changeOf([id, fields]: [string, string[]]): Change {
  const [kind = '', subject = '', , from = '', , entry = ''] = fields
  return { id, kind, subject, from, entry }
}
