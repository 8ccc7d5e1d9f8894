// Tests leases.jsonl: which reservations a restart restores, which not, and a file that cannot be read.

import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../../src/core/clock.ts'
import { JOURNAL_SURPLUS_LINES_MAX, ReservationJournal } from '../../src/core/lease/reservation-journal.ts'
import { type Reservation, Reservations } from '../../src/core/lease/reservations.ts'
import { createLog } from '../../src/core/log/log.ts'
import { GroupCommit } from '../../src/core/storage/group-commit.ts'
import { WriteHealth } from '../../src/core/storage/write-health.ts'
import { newAccount, startTestRelay } from '../support/relay.ts'

const ALICE = `demo:0x${'aa'.repeat(20)}`
const BOB = `demo:0x${'bb'.repeat(20)}`
const HOST = 'demo.relay.example'
const MINUTE_MS = 60_000
const KEPT_MAX = 1000
const log = createLog('silent')

function held(fields: Partial<Reservation> = {}): Reservation {
  return { hostname: HOST, expiresAt: now() + 2 * MINUTE_MS, ...fields }
}

describe('Reservations', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('a name is held while its lease lives and ten minutes more, and no longer', () => {
    const reservations = new Reservations()
    reservations.hold(ALICE, held())
    expect(reservations.holderOf(HOST)).toBe(ALICE)
    vi.advanceTimersByTime(12 * MINUTE_MS - 1)
    expect(reservations.holderOf(HOST)).toBe(ALICE)
    vi.advanceTimersByTime(1)
    expect(reservations.holderOf(HOST)).toBeUndefined()
  })

  test('a name that is given up waits ten minutes for its identity; what another took since is not given up with it', () => {
    const reservations = new Reservations()
    reservations.hold(ALICE, held())
    reservations.release(ALICE)
    vi.advanceTimersByTime(10 * MINUTE_MS - 1)
    expect(reservations.holderOf(HOST)).toBe(ALICE)
    vi.advanceTimersByTime(1)
    expect(reservations.holderOf(HOST)).toBeUndefined()
    expect([...reservations]).toEqual([])
    reservations.hold(BOB, held())
    reservations.release(ALICE)
    expect(reservations.holderOf(HOST)).toBe(BOB)
  })

  test('an identity that never had the name keeps nothing', () => {
    const reservations = new Reservations()
    reservations.hold(ALICE, held({ hostname: '' }))
    reservations.release(ALICE)
    expect([...reservations]).toEqual([])
    reservations.hold(BOB, held())
    expect(reservations.holderOf(HOST)).toBe(BOB)
  })

  test('what is kept is forgotten when its time is over, and is no more than a bound', () => {
    const reservations = new Reservations(() => {}, { keptMax: KEPT_MAX })
    const leave = (key: string) => {
      reservations.hold(key, held({ hostname: `${key}.relay.example` }))
      reservations.release(key)
    }
    for (let n = 0; n < KEPT_MAX; n++) leave(`early-${n}`)
    vi.advanceTimersByTime(10 * MINUTE_MS)
    leave('later')
    expect(reservations.size).toBe(1)
    for (let n = 0; n < KEPT_MAX; n++) leave(`flood-${n}`)
    expect(reservations.size).toBe(KEPT_MAX)
    expect(reservations.holderOf('later.relay.example')).toBeUndefined()
    expect(reservations.holderOf('flood-0.relay.example')).toBe('flood-0')
    // Leases are no part of that bound.
    reservations.hold(ALICE, held())
    leave('one-more')
    expect(reservations.holderOf(HOST)).toBe(ALICE)
    expect(reservations.size).toBe(KEPT_MAX + 1)
  })

  test("a name that is being written is nobody else's, and free again when that fails", () => {
    const reservations = new Reservations()
    const prepared = reservations.prepare(ALICE, held())
    expect(reservations.holderOf(HOST)).toBe(ALICE)
    prepared.drop()
    expect(reservations.holderOf(HOST)).toBeUndefined()
    expect([...reservations]).toEqual([])
    reservations.prepare(ALICE, held()).confirm()
    expect(reservations.holderOf(HOST)).toBe(ALICE)
    expect(reservations.size).toBe(1)
  })

  test('what fails leaves what was held before; two at once do not undo each other', () => {
    const reservations = new Reservations()
    const before = held({ ports: { tcp: 25565 } })
    reservations.hold(ALICE, before)
    const [first, second] = [reservations.prepare(ALICE, held()), reservations.prepare(ALICE, held())]
    first.drop()
    expect(reservations.holderOf(HOST)).toBe(ALICE)
    second.drop()
    expect([...reservations]).toEqual([[ALICE, before]])
    const third = reservations.prepare(ALICE, held())
    reservations.prepare(ALICE, held()).confirm()
    third.drop()
    expect(reservations.holderOf(HOST)).toBe(ALICE)
    expect(reservations.portsOf(ALICE)).toBeUndefined()
  })

  test('the last word to remember is what is prepared, whatever happens to what is held meanwhile', () => {
    const words: [string, Reservation][] = []
    const reservations = new Reservations((...word) => words.push(word))
    reservations.hold(ALICE, held())
    const next = held({ hostname: 'next.relay.example' })
    const prepared = reservations.prepare(ALICE, next)
    reservations.release(ALICE)
    expect(words.at(-1)).toEqual([ALICE, next])
    prepared.drop()
    expect(words.at(-1)).toEqual([ALICE, held({ expiresAt: now() })])
  })

  test('ports stay with their identity for five minutes after the lease', () => {
    const reservations = new Reservations()
    reservations.hold(ALICE, held({ hostname: '', ports: { tcp: 25565, udp: 19132 } }))
    reservations.release(ALICE)
    vi.advanceTimersByTime(5 * MINUTE_MS - 1)
    expect(reservations.portsOf(ALICE)).toEqual({ tcp: 25565, udp: 19132 })
    vi.advanceTimersByTime(1)
    expect(reservations.portsOf(ALICE)).toBeUndefined()
    expect([...reservations]).toEqual([])
  })
})

describe('GroupCommit', () => {
  test('commits during a write share the next one, and learn of its failure', async () => {
    const writes: PromiseWithResolvers<void>[] = []
    const commits = new GroupCommit(() => {
      const write = Promise.withResolvers<void>()
      writes.push(write)
      return write.promise
    })
    const first = commits.commit()
    await vi.waitUntil(() => writes.length === 1)
    const waiting = [commits.commit(), commits.commit()]
    writes[0]!.resolve()
    await first
    await vi.waitUntil(() => writes.length === 2)
    const third = commits.commit()
    writes[1]!.reject(new Error('the disk is full'))
    for (const commit of waiting) await expect(commit).rejects.toThrow('the disk is full')
    await vi.waitUntil(() => writes.length === 3)
    writes[2]!.resolve()
    await third
  })
})

describe('ReservationJournal', () => {
  let directory: string
  let path: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-journal-'))
    path = join(directory, 'leases.jsonl')
  })
  afterEach(() => rm(directory, { recursive: true }))
  const open = (journalLog = log) =>
    ReservationJournal.open(directory, new WriteHealth(journalLog), journalLog)
  const lines = async () => (await readFile(path, 'utf8')).split('\n').slice(0, -1)

  test('what is durable is there again; nobody else may read the file', async () => {
    const journal = await open()
    const reservation = held({ ports: { tcp: 25565 } })
    journal.reservations.hold(ALICE, reservation)
    await journal.durable()
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(JSON.parse((await lines())[0]!)).toEqual({
      identity_key: ALICE,
      hostname: HOST,
      expires_at: new Date(reservation.expiresAt).toISOString(),
      ports: { tcp: 25565 },
    })
    const again = await open()
    expect([...again.reservations]).toEqual([[ALICE, reservation]])
    await Promise.all([journal.close(), again.close()])
  })

  test('an away page that was asked for is there again; files of older relays have none, and fields of later ones are left', async () => {
    const journal = await open()
    journal.reservations.hold(ALICE, held({ awayPage: true }))
    journal.reservations.hold(BOB, held({ hostname: 'other.relay.example', awayPage: false }))
    await journal.close()
    const written = (await lines()).map((line) => JSON.parse(line))
    expect(written.map(({ away_page }) => away_page)).toEqual([true, undefined])
    const later = { ...written[1], identity_key: BOB, expected_by_nobody: { away: 1 } }
    await appendFile(path, `${JSON.stringify(later)}\n`)
    const again = await open()
    expect([...again.reservations.awayPages()].map(([key]) => key)).toEqual([ALICE])
    again.reservations.hold(ALICE, held({ awayPage: true }))
    expect([...again.reservations.awayPages()]).toEqual([])
    again.reservations.release(ALICE)
    expect([...again.reservations.awayPages()].map(([key]) => key)).toEqual([ALICE])
    await again.close()
    expect(await readdir(directory)).toEqual(['leases.jsonl'])
  })

  test('a line that a crash cut off was promised to nobody', async () => {
    const journal = await open()
    journal.reservations.hold(ALICE, held())
    await journal.close()
    await appendFile(path, `{"identity_key":"${BOB}","hostna`)
    const again = await open()
    expect([...again.reservations].map(([key]) => key)).toEqual([ALICE])
    again.reservations.hold(BOB, held({ hostname: 'other.relay.example' }))
    await again.close()
    expect((await lines()).map((line) => JSON.parse(line).identity_key)).toEqual([ALICE, BOB])
    expect(await readdir(directory)).toEqual(['leases.jsonl'])
  })

  test.each([
    ['text', 'nonsense'],
    ['another shape', '{"identity_key":7}'],
    ['no time', `{"identity_key":"${BOB}","hostname":"${HOST}","expires_at":"soon"}`],
    [
      'no port',
      `{"identity_key":"${BOB}","hostname":"","expires_at":"2100-01-01T00:00:00Z","ports":{"tcp":0}}`,
    ],
  ])('a damaged file is put aside, and what can be read holds: %s', async (_name, line) => {
    const journal = await open()
    journal.reservations.hold(ALICE, held())
    await journal.close()
    const damaged = `${line}\n${await readFile(path, 'utf8')}`
    await writeFile(path, damaged)
    const said: unknown[] = []
    const again = await open({ ...log, error: (fields: unknown) => said.push(fields) } as typeof log)
    expect(again.reservations.holderOf(HOST)).toBe(ALICE)
    await again.close()
    const aside = (await readdir(directory)).find((name) => name.startsWith('leases.jsonl.damaged-'))
    expect(await readFile(join(directory, aside!), 'utf8')).toBe(damaged)
    expect(said).toEqual([{ path, aside: join(directory, aside!), lines: 1 }])
    expect(await lines()).toHaveLength(1)
  })

  test('the file is written anew before it is much longer than what it holds', async () => {
    const journal = await open()
    for (let n = 0; n < 3 * JOURNAL_SURPLUS_LINES_MAX; n++) {
      journal.reservations.hold(ALICE, held({ expiresAt: now() + MINUTE_MS + n }))
      await journal.durable()
    }
    expect((await lines()).length).toBeLessThanOrEqual(JOURNAL_SURPLUS_LINES_MAX + 2)
    await journal.close()
  })

  test('changes that nobody can take are not kept: the file is written as a whole', async () => {
    const journal = await open()
    journal.reservations.hold(BOB, held({ hostname: 'other.relay.example' }))
    await journal.durable()
    for (let n = 0; n < 3 * JOURNAL_SURPLUS_LINES_MAX; n++)
      journal.reservations.hold(ALICE, held({ expiresAt: now() + MINUTE_MS + n }))
    await journal.close()
    expect((await lines()).length).toBeLessThanOrEqual(JOURNAL_SURPLUS_LINES_MAX + 2)
    const again = await open()
    expect([...again.reservations].map(([key]) => key).toSorted()).toEqual([ALICE, BOB])
  })

  test('a write that fails is a failure; the next one makes the file whole', async () => {
    const journal = await open()
    journal.reservations.hold(ALICE, held())
    await rm(directory, { recursive: true })
    await writeFile(directory, 'in the way')
    await expect(journal.durable()).rejects.toThrow()
    await rm(directory)
    journal.reservations.hold(BOB, held({ hostname: '' }))
    await journal.close()
    expect((await lines()).map((line) => JSON.parse(line).identity_key)).toEqual([ALICE, BOB])
  })
})

describe('a relay that is started again', () => {
  test('keeps a name for its identity, and no secret in its file', async () => {
    const first = await startTestRelay()
    const owner = newAccount()
    const lease = await first.register('demo', { account: owner })
    await first.stop()

    const second = await startTestRelay({}, { directory: first.directory })
    await expect(second.register('demo')).rejects.toThrow('hostname_conflict')
    expect(await second.register('demo', { allow_canonical_fallback: true })).toMatchObject({ hostname: '' })
    expect(await second.register('demo', { account: owner })).toMatchObject({ hostname: lease.hostname })
    const file = await readFile(join(second.directory, 'leases.jsonl'), 'utf8')
    expect(file).not.toContain(lease.access_token.slice(-40))
    expect(file).not.toContain(lease.reverse_endpoint.capability.slice(-40))
    await second.close()
  })
})
