// A relay of which one part cannot start: whatever started before is ended, so that the process ends by itself.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, test as every, expect } from 'vitest'
import { freePort } from '../../../tools/network/free-port.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { createLog } from '../../src/core/log/log.ts'
import { StartedParts } from '../../src/core/started-parts.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'

const test = wholeOnly(every, 'faults')

const SCRIPT = join(import.meta.dirname, '../support/failed-start.ts')
const ENDED_TIMEOUT_MS = 60_000

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-failed-start-'))
})
afterEach(() => rm(directory, { recursive: true }))

/** A relay with everything that an operator can turn on, of a public name, whose ACME authority does not answer. */
async function start(env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [SCRIPT], {
    env: {
      ...INHERITED_ENV,
      SVC_URL: `https://relay.test:${await freePort()}`,
      IDENTITY_PATH: directory,
      ACME_AGREE: 'true',
      ACME_DIRECTORY: `https://127.0.0.1:${await freePort()}/dir`,
      ACME_DNS_PROVIDER: 'embedded',
      ACME_CHALLENGE: 'dns-01',
      PUBLIC_IPS: '127.0.0.1',
      DNS_ADDR: `127.0.0.1:${await freePort()}`,
      ENS_GASLESS_ENABLED: 'true',
      STATIC_CACHE_ENABLED: 'true',
      DISCOVERY: 'true',
      METRICS_ADDR: `127.0.0.1:${await freePort()}`,
      HTTP_REDIRECT_ADDR: `127.0.0.1:${await freePort()}`,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: ENDED_TIMEOUT_MS,
  })
  const [printed, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { ...JSON.parse(printed), end: signal ?? code }
}

test('of a relay whose discovery cannot start, nothing is left', async () => {
  await mkdir(join(directory, 'relays.json'))
  const { failure, left, seen, end } = await start()
  expect(failure).toContain('relays.json')
  expect(seen).toEqual(expect.arrayContaining(['Timeout', 'WORKER']))
  expect({ left, end }).toEqual({ left: [], end: 0 })
  expect(await readdir(directory)).not.toContain('acme.lock')
})

test('of a relay whose static cache cannot start, nothing is left', async () => {
  await symlink(tmpdir(), join(directory, 'static-cache'))
  const { failure, left, end } = await start()
  expect(failure).toContain('STATIC_CACHE_ENABLED')
  expect({ left, end }).toEqual({ left: [], end: 0 })
})

test('of a relay whose last listener finds its port taken, nothing is left', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const { failure, left, end } = await start({ HTTP_REDIRECT_ADDR: `127.0.0.1:${port}` })
  expect(failure).toContain('HTTP_REDIRECT_ADDR')
  expect({ left, end }).toEqual({ left: [], end: 0 })
  other.close()
})

test('parts end in reverse order, one after the other, also when one of them fails', async () => {
  const order: string[] = []
  const part = (name: string, fails = false) => ({
    close: async () => {
      order.push(name)
      await new Promise(setImmediate)
      order.push(`${name} ended`)
      if (fails) throw new Error(name)
    },
  })
  const errors: unknown[] = []
  const log = createLog('error', { write: (line: string) => void errors.push(JSON.parse(line)) } as never)
  const started = new StartedParts(log)
  expect(started.add(undefined)).toBe(undefined)
  started.add(part('first'))
  started.add(part('second', true))
  started.add(part('third'))
  await started.close()
  await started.close()
  expect(order).toEqual(['third', 'third ended', 'second', 'second ended', 'first', 'first ended'])
  expect(errors).toHaveLength(1)
})
