// Somebody who reads and writes the Redis of a relay on several machines without their secret: another tenant of it.
import { randomBytes } from 'node:crypto'
import type { Redis } from '../programs/redis.ts'

/** The two fields of the hash that is a lease's entry. */
export interface LeaseEntry {
  key: string
  head: string
  json: string
}

export class RedisAttacker {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** The keys that there are, sorted. */
  async keys(): Promise<string[]> {
    return (await this.#redis.cli('KEYS', '*')).split('\n').filter(Boolean).sort()
  }

  /** The keys that are there after something was done and were not there before. */
  async newKeys(during: () => Promise<unknown>): Promise<string[]> {
    const before = new Set(await this.keys())
    await during()
    return (await this.keys()).filter((key) => !before.has(key))
  }

  /** The entry of the lease that is registered meanwhile. */
  async leaseOf(register: () => Promise<unknown>): Promise<LeaseEntry> {
    const [key] = (await this.newKeys(register)).filter((one) => one.includes(':lease:'))
    if (key === undefined) throw new Error('no lease was registered')
    return await this.lease(key)
  }

  async lease(key: string): Promise<LeaseEntry> {
    const [head, json] = await Promise.all(['h', 'j'].map((field) => this.#redis.cli('HGET', key, field)))
    return { key, head: head!, json: json! }
  }

  /** Writes the entry of a lease at its key, and tells all machines of it. */
  async put({ key, head, json }: LeaseEntry): Promise<void> {
    await this.#redis.cli('HSET', key, 'h', head, 'j', json)
    await this.tell('lease', key.slice(key.indexOf(':lease:') + ':lease:'.length), head)
  }

  /** Puts a change into the stream that all machines follow. */
  async tell(kind: string, subject: string, entry: string): Promise<void> {
    const changes = await this.#keyOf('changes')
    await this.#redis.cli('XADD', changes, '*', kind, subject, 'from', 'somebody', 'entry', entry)
  }

  async get(name: string): Promise<string> {
    return await this.#redis.cli('GET', await this.#keyOf(name))
  }

  async set(name: string, value: string): Promise<void> {
    await this.#redis.cli('SET', await this.#keyOf(name), value)
  }

  async delete(...keys: readonly string[]): Promise<void> {
    await this.#redis.cli('DEL', ...keys)
  }

  /** Lists a machine that does not exist. */
  async addMachine(name: string, entry: string): Promise<void> {
    await this.#redis.cli('HSET', await this.#keyOf('machines'), name, entry)
  }

  async machines(): Promise<string[]> {
    return (await this.#redis.cli('HKEYS', await this.#keyOf('machines'))).split('\n').filter(Boolean)
  }

  async #keyOf(name: string): Promise<string> {
    const key = (await this.keys()).find((one) => one.endsWith(`}:${name}`))
    if (key === undefined) throw new Error(`there is no ${name}`)
    return key
  }
}

/** An entry that says more than a machine wrote: a newer lease, with a hostname of the attacker's choice. */
export function forgedLease({ key, head, json }: LeaseEntry, hostname: string): LeaseEntry {
  const [fence = '', , , , ...rest] = head.split(' ')
  return {
    key,
    head: [Number(fence) + 1, Date.now() + 600_000, 0, hostname, ...rest].join(' '),
    json: json.replace(/lease_[0-9a-f]+/, `lease_${randomBytes(12).toString('hex')}`),
  }
}

/** What stands for the hostname in a head. */
export function hostnameIn(head: string): string {
  return head.split(' ')[3] ?? ''
}
