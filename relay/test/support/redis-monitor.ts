// Shows what a Redis is told, and what it holds.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Redis } from '../../../tools/programs/redis.ts'

export interface RedisMonitor {
  /** All commands so far, as the server's MONITOR shows them. */
  readonly text: string
  stop(): Promise<void>
}

export async function monitorRedis({ port, password }: Redis): Promise<RedisMonitor> {
  const env = { ...process.env, REDISCLI_AUTH: password }
  const child = spawn('redis-cli', ['-p', `${port}`, 'MONITOR'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('latin1').on('data', (more: string) => (text += more))
  await once(child.stdout, 'data')
  return {
    get text() {
      return text
    },
    stop: async () => {
      const ended = once(child, 'close')
      child.kill()
      await ended
    },
  }
}

/** Everything that Redis holds: keys and values. */
export async function contentOf({ cli }: Redis): Promise<Record<string, string>> {
  const readers: Record<string, (key: string) => string[]> = {
    string: (key) => ['GET', key],
    hash: (key) => ['HGETALL', key],
    list: (key) => ['LRANGE', key, '0', '-1'],
    zset: (key) => ['ZRANGE', key, '0', '-1', 'WITHSCORES'],
    stream: (key) => ['XRANGE', key, '-', '+'],
  }
  const content: Record<string, string> = {}
  for (const key of (await cli('KEYS', '*')).split('\n').filter(Boolean)) {
    const type = await cli('TYPE', key)
    // It may have expired since.
    if (type !== 'none') content[key] = await cli(...readers[type]!(key))
  }
  return content
}
