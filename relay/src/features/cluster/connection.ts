// What a machine shares with the others before it opens its state: Redis with its keys, and the files of the state
// directory.

import { randomUUID } from 'node:crypto'
import type { IsOver } from '../../core/auth/lease-authorizer.ts'
import type { Settings } from '../../core/config/settings.ts'
import { SettingsError } from '../../core/config/settings-error.ts'
import type { Logger } from '../../core/log/log.ts'
import { REDIS_START_MS } from './limits.ts'
import { markOf } from './links/machine-links.ts'
import { RedisKeys } from './redis/keys.ts'
import { RedisClient } from './redis/redis-client.ts'
import { RedisClock } from './redis/redis-clock.ts'
import { withRedisLock } from './redis/redis-lock.ts'
import { authorityOf, type ClusterSettings } from './settings.ts'
import { deriveClusterKey } from './shared/cluster-key.ts'
import { Seal } from './shared/seal.ts'
import { SharedFiles } from './shared/shared-files.ts'

export class ClusterConnection {
  /** CLUSTER_ADDR of this machine, which identifies it to the others. */
  readonly name: string
  /** Identifies this run of the machine. */
  readonly run: string = randomUUID()
  readonly redis: RedisClient
  readonly keys: RedisKeys
  /** Derived from the secret. */
  readonly key: Buffer
  readonly seal: Seal
  readonly clock: RedisClock = new RedisClock()
  readonly files: SharedFiles
  readonly log: Logger
  /** Whether a lease that this machine does not know is over. Always false until the machine joins the others. */
  isOver: IsOver = () => false
  readonly #closing = new AbortController()

  constructor({ cluster, host, identityPath }: Settings & { cluster: ClusterSettings }, log: Logger) {
    this.log = log
    this.name = authorityOf(cluster.address)
    this.redis = new RedisClient(cluster.redis, log)
    this.key = deriveClusterKey(cluster.secret, host)
    this.seal = new Seal(this.key, log)
    this.keys = new RedisKeys(host, this.seal)
    const { redis, keys, seal, run } = this
    this.files = new SharedFiles({ redis, keys, seal, run, log, directory: identityPath })
  }

  /** The bytes of a binding that identify this machine; they follow the byte of the process. */
  get bindingMark(): Buffer {
    return markOf(this.name)
  }

  /**
   * Opens the state directory once it contains the files that all machines share.
   * @throws SettingsError when Redis does not answer, or this machine conflicts with the others
   */
  async openState<State>(open: () => Promise<State>): Promise<State> {
    await this.redis.untilUp(REDIS_START_MS).catch((error: Error) => {
      throw new SettingsError('CLUSTER_URL', error.message)
    })
    return await withRedisLock(this, 'start', this.#closing.signal, async () => {
      await this.files.load()
      const state = await open()
      await this.files.publish()
      return state
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.redis.close()
  }
}
