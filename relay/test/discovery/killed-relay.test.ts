// A relay that is killed: what it had learnt of other relays is on disk, whenever that was.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, test as every, expect, vi } from 'vitest'
import { freePort } from '../../../tools/network/free-port.ts'
import { type RelayProcess, startRelay } from '../../../tools/relay/process.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { WAIT_TIMEOUT_MS } from '../../../tools/test-timeouts.ts'

const test = wholeOnly(every, 'faults')

const directories: string[] = []
const processes: RelayProcess[] = []
afterEach(async () => {
  await Promise.all(processes.map((relay) => relay.stop()))
  await Promise.all(directories.map((directory) => rm(directory, { recursive: true })))
})

/** @param env what the second relay has beside the first one's settings */
async function start(env: Record<string, string> = {}) {
  const [port, directory] = [await freePort(), await mkdtemp(join(tmpdir(), 'svc-killed-'))]
  directories.push(directory)
  const origin = `https://localhost:${port}`
  const relay = await startRelay({
    env: {
      SVC_URL: origin,
      SNI_PORT: `${port}`,
      IDENTITY_PATH: directory,
      DISCOVERY: 'true',
      DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true',
      ...env,
    },
  })
  processes.push(relay)
  return { relay, origin, directory }
}

test('a relay that was learnt a moment before SIGKILL is known at the next start', {
  timeout: 2 * WAIT_TIMEOUT_MS,
}, async () => {
  const first = await start()
  const trust = { NODE_EXTRA_CA_CERTS: join(first.directory, 'ca.pem') }
  const second = await start({ BOOTSTRAPS: first.origin, ...trust })
  // It asks at once, and its file is written at once: the interval of both is minutes.
  const file = join(second.directory, 'relays.json')
  await vi.waitFor(async () => expect(await readFile(file, 'utf8')).toContain(first.origin), WAIT_TIMEOUT_MS)
  process.kill(second.relay.pid, 'SIGKILL')
  await second.relay.ended
  expect(JSON.parse(await readFile(file, 'utf8')).relays).toMatchObject([
    { descriptor: { api_https_addr: first.origin, version: '9' } },
  ])
})
