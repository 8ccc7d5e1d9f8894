// Clients that go away in the middle of a file: no descriptor stays open, and a relay with few of them stays up.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test as every, expect, vi } from 'vitest'
import { atDepth, wholeOnly } from '../../../../tools/test-depth.ts'
import { PIPELINED_REQUESTS_MAX } from '../../../src/core/api/http/open-responses.ts'
import { connectRequest, UPGRADE_HEADERS } from '../../support/api-socket.ts'
import { ROOT_HOST } from '../../support/relay.ts'
import { type RelayProcess, startRelayProcess } from '../../support/relay-process.ts'

const test = wholeOnly(every, 'faults')

/** More than the kernel keeps for a client that does not read. */
const FILE_BYTES: number = 16 * 1024 * 1024
/** As few as a relay starts with. */
const OPEN_FILES = 512
const AT_ONCE = 20
/** Of the operating system and of Node, which come and go. */
const SPARE_DESCRIPTORS = 8
/** Of pino. */
const INFO = 30

let directory: string
let relay: RelayProcess
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-aborted-'))
  await mkdir(join(directory, 'bin'))
  for (const file of ['large.bin', 'bin/linux-amd64'])
    await writeFile(join(directory, file), Buffer.alloc(FILE_BYTES))
  relay = await startRelayProcess(
    { SVC_SITE_DIR: directory, SVC_INSTALL_DIR: directory },
    { openFiles: OPEN_FILES },
  )
})
afterAll(async () => {
  await relay.close()
  await rm(directory, { recursive: true })
})

const requestFor = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${ROOT_HOST}:${relay.port}\r\n\r\n`

/** Leaves once the first bytes of the answer are there. @param more requests behind it @returns these bytes */
async function abortDownload(path: string, more = ''): Promise<string> {
  const socket = relay.tls(ROOT_HOST)
  socket.write(`${requestFor(path)}${more}`)
  const bytes = await new Promise((resolve) => socket.once('data', resolve).once('close', resolve))
  socket.destroy()
  return `${bytes}`
}

async function descriptorsAreClosed(before: number): Promise<void> {
  await vi.waitFor(async () =>
    expect(await relay.descriptors()).toBeLessThanOrEqual(before + SPARE_DESCRIPTORS),
  )
}

test.each([
  ['/large.bin', atDepth(600, 100)],
  ['/api/install/bin/linux-amd64', atDepth(60, 20)],
])('downloads of %s that %i clients abort leave no descriptor open', async (path, count) => {
  const before = await relay.descriptors()
  for (let begun = 0; begun < count; begun += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => abortDownload(path)))
  await descriptorsAreClosed(before)
  expect(await relay.call('GET', '/api/healthz')).toMatchObject({ status: 200 })
  expect(relay.log.filter(({ level }) => level !== INFO)).toEqual([])
  expect(relay.complaints).toBe('')
})

test('downloads that wait for one another, with a request for a session behind them, end with their connection', async () => {
  const before = await relay.descriptors()
  const waiting = requestFor('/large.bin').repeat(PIPELINED_REQUESTS_MAX - 1)
  for (const ended of ['', requestFor('/api/healthz')])
    for (let begun = 0; begun < AT_ONCE; begun += 1)
      await abortDownload('/large.bin', waiting + ended + connectRequest('none', UPGRADE_HEADERS))
  await descriptorsAreClosed(before)
  // Nor do they hold the memory that responses may take.
  const heads = await Promise.all(Array.from({ length: AT_ONCE }, () => abortDownload('/large.bin')))
  for (const head of heads) expect(head).toMatch(/^HTTP\/1\.1 200 /)
})
