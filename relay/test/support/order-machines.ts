// What two machines share of ACME, over a Redis, without the relays around it.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from '../../../tools/programs/redis.ts'
import { createLog } from '../../src/core/log/log.ts'
import { RedisKeys } from '../../src/features/cluster/redis/keys.ts'
import { RedisClient } from '../../src/features/cluster/redis/redis-client.ts'
import { deriveClusterKey } from '../../src/features/cluster/shared/cluster-key.ts'
import { Seal } from '../../src/features/cluster/shared/seal.ts'
import { SharedFiles } from '../../src/features/cluster/shared/shared-files.ts'
import { SharedOrders } from '../../src/features/cluster/shared/shared-orders.ts'
import { readSettings } from '../../src/settings.ts'

export interface OrderMachine {
  /** State directory. */
  directory: string
  sharing: SharedOrders
}

export interface OrderMachines {
  a: OrderMachine
  b: OrderMachine
  close(): Promise<void>
}

const SECRET = 'a secret of 32 characters or more'

/** @param host of the relay: relays of other hosts share nothing */
export async function startOrderMachines(redis: Redis, host: string): Promise<OrderMachines> {
  const log = createLog('silent')
  const listeners: Map<string, (text: string) => void>[] = []
  const clients: RedisClient[] = []
  const start = async (): Promise<OrderMachine> => {
    const directory = await mkdtemp(join(tmpdir(), 'svc-orders-'))
    const { cluster } = readSettings({
      SVC_URL: `https://${host}`,
      CLUSTER_URL: redis.url,
      CLUSTER_ADDR: '127.0.0.1:1',
      CLUSTER_SECRET: SECRET,
    })
    const seal = new Seal(deriveClusterKey(SECRET, host), log)
    const parts = {
      redis: new RedisClient(cluster!.redis, log),
      seal,
      keys: new RedisKeys(host, seal),
      run: directory,
      log,
    }
    clients.push(parts.redis)
    await isUp(parts.redis)
    const files = new SharedFiles({ ...parts, directory })
    const own = new Map<string, (text: string) => void>()
    listeners.push(own)
    const publish = (topic: string, text: string): void => {
      for (const other of listeners) if (other !== own) other.get(topic)?.(text)
    }
    const onTold = (topic: string, listener: (text: string) => void): void => void own.set(topic, listener)
    return {
      directory,
      sharing: new SharedOrders({ ...parts, files, publish, acknowledged: async () => {}, onTold }),
    }
  }
  const [a, b] = [await start(), await start()]
  const close = async (): Promise<void> => {
    await Promise.all(clients.map((redis) => redis.close()))
    await Promise.all([a, b].map(({ directory }) => rm(directory, { recursive: true })))
  }
  return { a, b, close }
}

async function isUp(redis: RedisClient): Promise<void> {
  for (;;)
    try {
      await redis.command('PING')
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
}
