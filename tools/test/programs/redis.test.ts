// The Redis servers of tests: what a killed server has kept, and who may ask it.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Redis, startRedis } from '../../programs/redis.ts'
import { findRedis, findValkey } from '../../programs/services.ts'

describe.each([
  ['redis-server', findRedis()],
  ['valkey-server', findValkey()],
] as const)('%s', (program, found) => {
  const withServer = async (run: (server: Redis) => Promise<void>): Promise<void> => {
    const server = await startRedis({ program })
    try {
      await run(server)
    } finally {
      await server.stop()
    }
  }

  it.skipIf(!found)('keeps its data when it is killed, unless it is started without them', () =>
    withServer(async (server) => {
      expect(await server.cli('SET', 'key', 'value')).toBe('OK')
      await server.kill()
      await expect(server.cli('GET', 'key')).rejects.toThrow()
      await server.restart()
      expect(await server.cli('GET', 'key')).toBe('value')
      await server.kill('SIGSTOP')
      await server.restart({ withoutData: true })
      expect(await server.cli('EXISTS', 'key')).toBe('0')
    }),
  )

  it.skipIf(!found)('answers who has its password, and is gone with its data in the end', async () => {
    let directory = ''
    await withServer(async (server) => {
      directory = (await server.cli('CONFIG', 'GET', 'dir')).split('\n')[1]!
      const client = program.replace('-server', '-cli')
      const ask = (...args: string[]): string =>
        execFileSync(client, ['-p', `${server.port}`, ...args, 'PING'], { encoding: 'utf8' })
      expect(ask()).toContain('NOAUTH')
      expect(ask('--no-auth-warning', '-a', new URL(server.url).password)).toBe('PONG\n')
    })
    expect(existsSync(directory)).toBe(false)
  })
})
