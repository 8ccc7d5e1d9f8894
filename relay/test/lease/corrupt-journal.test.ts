// leases.jsonl as no relay writes it, 20 MB long: read within a second, put aside, and what can be read of it holds.

import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, test as every, expect } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { JOURNAL_MAX_BYTES, ReservationJournal } from '../../src/core/lease/reservation-journal.ts'
import { createLog } from '../../src/core/log/log.ts'
import { WriteHealth } from '../../src/core/storage/write-health.ts'
import { mountSmallDisk } from '../support/full-disk.ts'

const test = wholeOnly(every, 'depth')

const SIZE = 20 * 1024 * 1024
/** Of processor time, all threads together: other tests run beside this one. */
const CPU_MAX_MS = 2_000
/** The same on a slow machine, in times of what parsing the lines of such a file takes there: what is not linear takes thousands. */
const CPU_MAX_PARSINGS = 60
const log = createLog('silent')

const line = (n: number, hostname = `name-${n}.relay.example`): string =>
  `${JSON.stringify({
    identity_key: `name-${n}:0x${n.toString(16).padStart(40, '0')}`,
    hostname,
    expires_at: new Date(Date.now() + 300_000).toISOString(),
  })}\n`
const numbered = (one: (n: number) => string): string => {
  let text = ''
  for (let n = 2; text.length < SIZE; n++) text += one(n)
  return text
}
const repeated = (text: string): string => text.repeat(Math.ceil(SIZE / text.length))

/** Processor time in milliseconds that parsing a whole file takes here. */
let parsingMs: number
beforeAll(() => {
  const lines = numbered((n) => line(n))
    .trimEnd()
    .split('\n')
  const start = process.cpuUsage()
  for (const one of lines) JSON.parse(one)
  parsingMs = cpuMsSince(start)
})

const cpuMsSince = (start: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-degenerate-'))
})
afterEach(() => rm(directory, { recursive: true }))

test.each<[string, () => string, { damaged: boolean; holds: boolean }]>([
  ['line breaks', () => repeated('\n'), { damaged: true, holds: true }],
  ['one line without an end', () => repeated('x'), { damaged: true, holds: false }],
  ['NUL bytes', () => repeated('\0'), { damaged: true, holds: false }],
  ['lines of one brace', () => repeated('{\n'), { damaged: true, holds: true }],
  ['lines that begin well', () => repeated('{"identity_key":"a"\n'), { damaged: true, holds: true }],
  [
    'JSON of another shape',
    () => repeated('{"identity_key":"a","hostname":7}\n'),
    { damaged: true, holds: true },
  ],
  ['duplicates', () => repeated(line(7)), { damaged: false, holds: true }],
  ['nested arrays', () => `${'['.repeat(SIZE)}\n`, { damaged: true, holds: true }],
  [
    'lines that are whole but for one character',
    () => numbered((n) => line(n).replace('}', ')')),
    { damaged: true, holds: true },
  ],
  [
    'as many identities as there is room for',
    () => numbered((n) => line(n)),
    { damaged: false, holds: true },
  ],
])('%s', async (_what, content, { damaged, holds }) => {
  const path = join(directory, 'leases.jsonl')
  await writeFile(path, content() + line(1))
  const start = process.cpuUsage()
  const journal = await ReservationJournal.open(directory, new WriteHealth(log), log)
  const took = cpuMsSince(start)
  expect(took).toBeLessThan(Math.max(CPU_MAX_MS, CPU_MAX_PARSINGS * parsingMs))
  const holder = journal.reservations.holderOf('name-1.relay.example')
  expect(holder?.startsWith('name-1:')).toBe(holds ? true : undefined)
  await journal.close()
  const aside = (await readdir(directory)).filter((name) => name.includes('.damaged-'))
  expect(aside).toHaveLength(damaged ? 1 : 0)
  if (damaged) {
    expect((await stat(join(directory, aside[0]!))).size).toBeGreaterThanOrEqual(SIZE)
    expect((await stat(path)).size).toBeLessThan(1000)
  }
})

test('a file that is far too long is put aside unread', async () => {
  const path = join(directory, 'leases.jsonl')
  await writeFile(path, line(1))
  await truncate(path, JOURNAL_MAX_BYTES + 1)
  const journal = await ReservationJournal.open(directory, new WriteHealth(log), log)
  expect(journal.reservations.size).toBe(0)
  await journal.close()
  expect((await readdir(directory)).toSorted()).toEqual([
    'leases.jsonl',
    expect.stringContaining('.damaged-'),
  ])
})

test('of an identity whose last line is damaged the one before holds', async () => {
  const path = join(directory, 'leases.jsonl')
  const [before, after] = [line(1, 'before.relay.example'), line(1, 'after.relay.example')]
  await writeFile(path, before + after.replace('"hostname"', '"hostnam"'))
  const journal = await ReservationJournal.open(directory, new WriteHealth(log), log)
  expect([...journal.reservations].map(([, { hostname }]) => hostname)).toEqual(['before.relay.example'])
  await journal.close()
})

test('a damaged file on a full disk keeps no relay from starting, and is put aside once there is room', async (context) => {
  const disk = mountSmallDisk()
  if (disk === undefined) return context.skip('mounting is not permitted here')
  try {
    const path = join(disk.directory, 'leases.jsonl')
    await writeFile(path, `nonsense\n${line(1)}`)
    disk.fill(0)
    const health = new WriteHealth(log)
    const journal = await ReservationJournal.open(disk.directory, health, log)
    expect(journal.reservations.holderOf('name-1.relay.example')).toBeDefined()
    expect(health.failing).toEqual(['leases.jsonl'])
    disk.free(0)
    await journal.close()
    const files = await readdir(disk.directory)
    const aside = files.find((name) => name.includes('.damaged-'))
    expect(await readFile(join(disk.directory, aside!), 'utf8')).toMatch(/^nonsense\n/)
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(2)
  } finally {
    disk.close()
  }
})
