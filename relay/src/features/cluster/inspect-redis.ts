// Inspects a Redis without changing anything: whether it answers, keeps its data, and has other machines.

import { createLog } from '../../core/log/log.ts'
import { HEARTBEAT_MS, MACHINE_GONE_MS, REDIS_INSPECT_MS } from './limits.ts'
import { openMachine, parseMachine } from './machines.ts'
import { RedisKeys } from './redis/keys.ts'
import { RedisClient } from './redis/redis-client.ts'
import type { ClusterSettings } from './settings.ts'
import { deriveClusterKey } from './shared/cluster-key.ts'
import { Seal } from './shared/seal.ts'
import { openFile } from './shared/shared-files.ts'

const IDENTITY_FILE = 'identity.json'

export interface RedisInspection {
  version: string
  /** Machines that sent a heartbeat in the last few seconds. */
  machines: string[]
  /** Whether the other machines have the same secret; undefined without other machines. */
  hasSameSecret: boolean | undefined
  /**
   * Whether it writes its data to disk, and whether it drops entries when its memory is full; undefined when it does
   * not report this.
   */
  isDurable: boolean | undefined
  evicts: boolean | undefined
}

/** @param host authority of the relay's URL @throws RedisError when Redis does not answer */
export async function inspectRedis(settings: ClusterSettings, host: string): Promise<RedisInspection> {
  const log = createLog('silent')
  const redis = new RedisClient(settings.redis, log)
  const seal = new Seal(deriveClusterKey(settings.secret, host), log)
  const keys = new RedisKeys(host, seal)
  try {
    await redis.untilUp(REDIS_INSPECT_MS)
    const [time, entries, entry, info] = await Promise.all([
      redis.command('TIME') as Promise<[string, string]>,
      redis.command('HGETALL', keys.machines) as Promise<string[]>,
      redis.command('GET', keys.file(IDENTITY_FILE)),
      redis.command('INFO', 'server').catch(() => ''),
    ])
    return {
      version: /^(?:valkey|redis)_version:(\S+)/m.exec(`${info}`)?.[1] ?? 'of an unknown version',
      machines: aliveOf(seal, entries, Number(time[0]) * 1000),
      hasSameSecret:
        typeof entry === 'string' ? openFile(seal, IDENTITY_FILE, entry) !== undefined : undefined,
      isDurable: await settingOf(redis, 'appendonly').then((value) => value && value === 'yes'),
      evicts: await settingOf(redis, 'maxmemory-policy').then((value) => value && value !== 'noeviction'),
    } as RedisInspection
  } finally {
    await redis.close()
  }
}

function aliveOf(seal: Seal, entries: readonly string[], now: number): string[] {
  const names: string[] = []
  for (let at = 0; at + 1 < entries.length; at += 2) {
    const text = openMachine(seal, entries[at]!, entries[at + 1]!)
    const machine = text === undefined ? undefined : parseMachine(text)
    if (machine !== undefined && now - machine.seen < MACHINE_GONE_MS + HEARTBEAT_MS) names.push(machine.name)
  }
  return names
}

/** A hosted Redis may forbid this command. */
async function settingOf(redis: RedisClient, name: string): Promise<string | undefined> {
  const [, value] = ((await redis.command('CONFIG', 'GET', name).catch(() => [])) ?? []) as string[]
  return value
}
