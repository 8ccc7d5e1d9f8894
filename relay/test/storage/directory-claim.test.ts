// One relay for one state directory: a second one is refused, and one that was killed leaves nothing in the way.

import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test as every, expect } from 'vitest'
import { freePort } from '../../../tools/network/free-port.ts'
import { startRelay, WITHOUT_OVERLOAD } from '../../../tools/relay/process.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { createLog } from '../../src/core/log/log.ts'
import { claimDirectory } from '../../src/core/storage/directory-claim.ts'
import { svcRelay } from '../support/svc-relay.ts'

const test = wholeOnly(every, 'faults')

const log = createLog('silent')
const RACERS = 8

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-claim-'))
})
afterEach(() => rm(directory, { recursive: true }))

async function settings(): Promise<Record<string, string>> {
  const port = await freePort()
  return { SVC_URL: `https://relay.localhost:${port}`, SNI_PORT: `${port}`, IDENTITY_PATH: directory }
}

test('a second relay is refused with the process that has the directory, also behind one that was killed', async () => {
  const execArgv = [...WITHOUT_OVERLOAD]
  const env = { ...(await settings()), SVC_WORKERS: '2' }
  const first = await startRelay({ env, execArgv })
  await expect(startRelay({ env: await settings(), execArgv })).rejects.toThrow(
    `svc-relay: IDENTITY_PATH: ${directory} is in use: another relay runs there (process ${first.pid})`,
  )
  for (const command of [['check', '--restart'], ['healthcheck']]) {
    const { code, stderr } = await svcRelay(command, env)
    expect([command, code, stderr]).toEqual([command, 0, ''])
  }
  const other = await svcRelay(['check'], await settings())
  expect([other.code, other.stdout]).toEqual([1, expect.stringContaining(`now (process ${first.pid})`)])
  process.kill(first.pid, 'SIGKILL')
  await first.ended
  const second = await startRelay({ env: await settings(), execArgv })
  await second.stop()
  expect(await readdir(directory)).not.toContain('relay.sock')
})

test('of many that find what a killed relay has left, one gets the directory', async () => {
  const killed = await startRelay({ env: await settings(), execArgv: [...WITHOUT_OVERLOAD] })
  process.kill(killed.pid, 'SIGKILL')
  await killed.ended
  const claims = await Promise.allSettled(
    Array.from({ length: RACERS }, () => claimDirectory(directory, log)),
  )
  const got = claims.flatMap((claim) => (claim.status === 'fulfilled' ? [claim.value] : []))
  expect(got).toHaveLength(1)
  await got[0]!.close()
})

test('a directory whose path is too long for a socket is claimed as well', async () => {
  const long = join(directory, 'x'.repeat(200))
  await mkdir(long)
  const claim = await claimDirectory(long, log)
  await expect(claimDirectory(long, log)).rejects.toThrow('is in use')
  await claim!.close()
  expect(await readdir(long)).toEqual([])
})
