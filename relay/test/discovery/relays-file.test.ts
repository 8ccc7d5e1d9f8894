// relays.json: what a restart reads of it, that a damaged file ends nothing, and how often it is written.

import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { now } from '../../src/core/clock.ts'
import { createLog } from '../../src/core/log/log.ts'
import { StateFileError } from '../../src/core/storage/state-file.ts'
import { STATE_RETRY_MS, WriteHealth } from '../../src/core/storage/write-health.ts'
import { readDescriptor } from '../../src/features/discovery/descriptor-rules.ts'
import { KnownRelays } from '../../src/features/discovery/known-relays.ts'
import { RelaysFile, restoreRelays } from '../../src/features/discovery/relays-file.ts'
import { inventRelay } from '../support/descriptors.ts'

const log = createLog('silent')
const seen = { network: '192.0.2.0/24', release: '1.2.3' }
let directory: string
let relays: KnownRelays
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-relays-'))
  relays = new KnownRelays(() => false)
})
afterEach(() => rm(directory, { recursive: true }))

const path = (): string => join(directory, 'relays.json')
const learn = (name: string): void =>
  void relays.confirm(readDescriptor(inventRelay().describe(`https://${name}.example`), false), seen, now())
const open = (): RelaysFile => new RelaysFile({ directory, relays, health: new WriteHealth(log), log })

async function restored(): Promise<KnownRelays> {
  const known = new KnownRelays(() => false)
  await restoreRelays(
    directory,
    ({ descriptor, ...more }) => known.restore(readDescriptor(descriptor, false), more, now()),
    log,
  )
  return known
}

test('what is known at the end is known at the next start', async () => {
  const file = open()
  learn('one')
  learn('two')
  await file.close()
  expect((await stat(path())).mode & 0o777).toBe(0o600)
  const known = await restored()
  expect([...known].map(({ origin, network, release }) => ({ origin, network, release }))).toEqual([
    { origin: 'https://one.example', ...seen },
    { origin: 'https://two.example', ...seen },
  ])
})

test('of an address that the file has twice the first relay is known', async () => {
  const relay = inventRelay()
  const entries = ['one', 'two'].map((name) => ({
    descriptor: relay.describe(`https://${name}.example`),
    ...seen,
  }))
  await writeFile(path(), JSON.stringify({ relays: entries }))
  expect([...(await restored())].map(({ origin }) => origin)).toEqual(['https://one.example'])
})

test('a start without a file knows nobody, and an end that knows nobody writes none', async () => {
  expect((await restored()).size).toBe(0)
  await open().close()
  expect(await readdir(directory)).toEqual([])
})

test('a change is written without an end; no change is not', async () => {
  const file = open()
  learn('one')
  await vi.waitFor(async () => expect(await readFile(path(), 'utf8')).toContain('one.example'))
  const { mtimeMs } = await stat(path())
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect((await stat(path())).mtimeMs).toBe(mtimeMs)
  await file.close()
})

test('a file that cannot be written is told, with what that means, until it can be', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const health = new WriteHealth(log)
  await mkdir(path())
  const file = new RelaysFile({ directory, relays, health, log })
  learn('one')
  await file.close()
  expect(health.problems).toEqual([
    'the relay cannot write relays.json: a restart would know the relays of the last write alone',
  ])
  await rm(path(), { recursive: true })
  await vi.advanceTimersByTimeAsync(STATE_RETRY_MS)
  vi.useRealTimers()
  await vi.waitFor(() => expect(health.problems).toEqual([]))
  expect((await restored()).size).toBe(1)
})

test('a crowd of changes is one write', async () => {
  const health = new WriteHealth(log)
  const watch = vi.spyOn(health, 'watch')
  const file = new RelaysFile({ directory, relays, health, log })
  for (let index = 0; index < 64; index++) learn(`relay${index}`)
  expect(watch).not.toHaveBeenCalled()
  await vi.waitFor(async () => expect(await readFile(path(), 'utf8')).toContain('relay63.example'), 60_000)
  expect(watch).toHaveBeenCalledTimes(1)
  await file.close()
})

test('a relay that comes while the file is written is in the next one', async () => {
  const health = new WriteHealth(log)
  const real = health.watch.bind(health)
  const watch = vi.spyOn(health, 'watch').mockImplementationOnce(async (...write) => {
    learn('two')
    await real(...write)
  })
  const file = new RelaysFile({ directory, relays, health, log })
  learn('one')
  await vi.waitFor(async () => expect(await readFile(path(), 'utf8')).toContain('two.example'), 60_000)
  expect(watch).toHaveBeenCalledTimes(2)
  await file.close()
})

test.each([
  ['cut short', '{"relays":[{"descr'],
  ['of another form', '{"relays":{}}'],
  ['with something that is no relay', '{"relays":[7]}'],
  ['with an invalid descriptor', '{"relays":[{"descriptor":{},"network":"","release":""}]}'],
  ['of 4 MiB and one byte', 'x'.repeat(4 * 1024 * 1024 + 1)],
])('a file %s is set aside with a warning, and ends nothing', async (_what, text) => {
  await writeFile(path(), text)
  const warn = vi.spyOn(log, 'warn')
  expect((await restored()).size).toBe(0)
  expect(warn).toHaveBeenCalledTimes(1)
  warn.mockRestore()
  expect(await readdir(directory)).toEqual(['relays.json.damaged'])
  expect(await readFile(join(directory, 'relays.json.damaged'), 'utf8')).toBe(text)
})

test('a damaged file that cannot be set aside ends the start with a message that names it', async () => {
  await writeFile(path(), 'damaged')
  // No file can take the name of a folder.
  await mkdir(join(directory, 'relays.json.damaged'))
  const failure = await restored().catch((error) => error)
  expect(failure).toBeInstanceOf(StateFileError)
  expect(failure.message).toBe(`${path()}.damaged cannot be written: illegal operation on a directory`)
  expect(await readFile(path(), 'utf8')).toBe('damaged')
})
