// Leases that are written into Redis as a machine does it, without a signature of each.
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { identityKey } from '@svc/protocol'
import { newLeaseId } from '../../relay/src/core/lease/lease.ts'
import { NO_PREFERENCES } from '../../relay/src/core/lease/lease-preferences.ts'
import { NAME_RESERVATION_MS } from '../../relay/src/core/lease/reservations.ts'
import { createLog } from '../../relay/src/core/log/log.ts'
import { LeaseEntries } from '../../relay/src/features/cluster/leases/lease-entry.ts'
import { CHANGES_KEPT, FENCE_MAX, NAME_INDEX_MS } from '../../relay/src/features/cluster/limits.ts'
import { RedisKeys } from '../../relay/src/features/cluster/redis/keys.ts'
import { RedisClient } from '../../relay/src/features/cluster/redis/redis-client.ts'
import { RedisClock } from '../../relay/src/features/cluster/redis/redis-clock.ts'
import { NEXT_FENCE, REGISTER } from '../../relay/src/features/cluster/redis/scripts.ts'
import { deriveClusterKey } from '../../relay/src/features/cluster/shared/cluster-key.ts'
import { Seal } from '../../relay/src/features/cluster/shared/seal.ts'
import type { Machines } from '../../tools/relay/machines.ts'

/** Longer than the benchmark takes. */
const TTL_MS: number = 3_600_000
const AT_ONCE = 200
const LOOK_MS = 20

export class RedisLeases {
  readonly #redis: RedisClient
  readonly #keys: RedisKeys
  readonly #entries: LeaseEntries
  readonly #machine: string
  #epoch = ''

  private constructor({ url, redis, machines, secret }: Machines) {
    const { host, hostname } = new URL(url)
    const log = createLog('silent')
    const seal = new Seal(deriveClusterKey(secret, host), log)
    const keys = new RedisKeys(host, seal)
    this.#keys = keys
    // The times of these leases are those of this machine, which has Redis.
    const clock = new RedisClock()
    this.#entries = new LeaseEntries({ seal, keys, clock, hostname: (label) => `${label}.${hostname}` })
    this.#machine = machines[0]!.addr
    const address = {
      kind: 'single',
      nodes: [{ host: '127.0.0.1', port: redis.port }],
      master: undefined,
      usesTls: false,
      username: undefined,
      password: redis.password,
      database: 0,
    } as const
    this.#redis = new RedisClient(address, log)
  }

  static async of(machines: Machines): Promise<RedisLeases> {
    const leases = new RedisLeases(machines)
    for (;;) {
      const epoch = await leases.#redis.command('GET', leases.#keys.epoch).catch(() => undefined)
      if (typeof epoch === 'string') {
        leases.#epoch = epoch
        return leases
      }
      // The connection is not there yet.
      await pause(LOOK_MS)
    }
  }

  /** @param prefix of their names, which a number follows */
  async register(prefix: string, count: number): Promise<void> {
    for (let at = 0; at < count; at += AT_ONCE) {
      const numbers = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, index) => at + index)
      await Promise.all(numbers.map((number) => this.registerOne(`${prefix}-${number}`)))
    }
  }

  async registerOne(name: string): Promise<void> {
    const identity = { name, address: `0x${randomBytes(20).toString('hex')}` }
    const key = identityKey(name, identity.address)
    const time = Date.now()
    const lease = {
      id: newLeaseId(),
      machine: this.#machine,
      identity,
      metadata: {},
      clientIp: '192.0.2.1',
      reportedIp: undefined,
      ports: undefined,
      portHost: undefined,
      preferences: NO_PREFERENCES,
      firstSeenAt: time,
      lastSeenAt: time,
    }
    const [keys, entries] = [this.#keys, this.#entries]
    const sequence = Number(
      await this.#redis.run(NEXT_FENCE, { fence: keys.fence }, { known: 0, most: FENCE_MAX }),
    )
    const [identityName, hostname] = [keys.identityName(key), entries.hostnameName(key, true)]
    const head = {
      key,
      sequence,
      expires: time + TTL_MS,
      isEnded: false,
      hasFriendly: true,
      tag: entries.tagOf(sequence, lease.metadata),
      awayPage: false,
      seen: lease,
    }
    const reply = await this.#redis.run(
      REGISTER,
      {
        epoch: keys.epoch,
        lease: keys.lease(identityName),
        holder: keys.holder(hostname),
        changes: keys.changes,
        index: keys.leaseIndex,
      },
      {
        epoch: this.#epoch,
        identity: identityName,
        leases: keys.leases,
        hostname,
        fence: sequence,
        ttlMs: TTL_MS,
        keptMs: NAME_RESERVATION_MS,
        indexMs: NAME_INDEX_MS,
        changesKept: CHANGES_KEPT,
        machine: 'bench',
        head: entries.formatHead(head),
        json: entries.formatJson(lease, sequence),
      },
    )
    if (!Array.isArray(reply) || reply[0] !== 'registered') throw new Error(`Redis answered ${reply}`)
  }

  async close(): Promise<void> {
    await this.#redis.close()
  }
}
