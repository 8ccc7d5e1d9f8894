// The rules that each journal of payments keeps. A journal's own test calls this with a way to open it, and to open it again.

import { expect, test } from 'vitest'
import type { PaymentJournal, PaymentRecord } from '../src/index.ts'

export interface JournalUnderTest {
  journal: PaymentJournal
  /** Opens the same records again, as after a crash: nothing is closed before. */
  reopen: () => Promise<PaymentJournal>
}

export const RECORD: PaymentRecord = {
  digest: '9Vb3Xo8Y1eRkTqzJ6wN2cM4hD7sFgLuPpQaEiK5tRjYx',
  resource: 'https://demo.relay.example/paid',
  payer: `0x${'1'.repeat(64)}`,
  payTo: `0x${'2'.repeat(64)}`,
  network: 'sui:testnet',
  asset: `0x${'3'.repeat(64)}::usdc::USDC`,
  amount: '10000',
  lastEpoch: '101',
  notedAt: 1_800_000_000_000,
}

/** Defines the tests. @param open makes an empty journal, of its own for each test */
export function testJournal(open: () => Promise<JournalUnderTest>): void {
  test('a record is found as it was noted, also after a crash', async () => {
    const { journal, reopen } = await open()
    await journal.note(RECORD)
    expect(await journal.find(RECORD.digest)).toEqual(RECORD)
    const again = await reopen()
    expect(await again.find(RECORD.digest)).toEqual(RECORD)
    expect(await again.open()).toEqual([RECORD])
  })

  test('an outcome takes the place of the record without one', async () => {
    const { journal, reopen } = await open()
    await journal.note(RECORD)
    const concluded = { ...RECORD, outcome: outcome(RECORD.digest, true) }
    await journal.note(concluded)
    for (const one of [journal, await reopen()]) {
      expect(await one.find(RECORD.digest)).toEqual(concluded)
      expect(await one.open()).toEqual([])
    }
  })

  test('what was never noted is not found', async () => {
    const { journal } = await open()
    expect(await journal.find(RECORD.digest)).toBeUndefined()
    expect(await journal.open()).toEqual([])
  })

  test('records that are noted at once are all there', async () => {
    const { journal, reopen } = await open()
    const records = Array.from({ length: 50 }, (_, index) => ({ ...RECORD, digest: `digest${index}` }))
    await Promise.all(records.map((record) => journal.note(record)))
    const digests = (await (await reopen()).open()).map(({ digest }) => digest)
    expect(digests.sort()).toEqual(records.map(({ digest }) => digest).sort())
  })

  test('a thousand payments that failed push out no payment that succeeded, and none that is open', async () => {
    const { journal, reopen } = await open()
    const settled = { ...RECORD, digest: 'settled', outcome: outcome('settled', true) }
    await journal.note(settled)
    await journal.note(RECORD)
    const failures = Array.from({ length: 1_100 }, (_, index) => `failed${index}`)
    await Promise.all(
      failures.map((digest) => journal.note({ ...RECORD, digest, outcome: outcome(digest, false) })),
    )
    for (const one of [journal, await reopen()]) {
      expect(await one.find('settled')).toEqual(settled)
      expect(await one.find(RECORD.digest)).toEqual(RECORD)
      expect(await one.find('failed0')).toBeUndefined()
      expect(await one.find('failed1099')).toBeDefined()
    }
  })

  test('too many payments without an outcome are refused, and those that are there stay', async () => {
    const { journal } = await open()
    const digests = Array.from({ length: 1_024 }, (_, index) => `open${index}`)
    await Promise.all(digests.map((digest) => journal.note({ ...RECORD, digest })))
    await expect(journal.note(RECORD)).rejects.toMatchObject({ code: 'busy' })
    expect(await journal.find('open0')).toBeDefined()
    await journal.note({ ...RECORD, digest: 'open0', outcome: outcome('open0', true) })
    await journal.note(RECORD)
  })
}

function outcome(digest: string, success: boolean): NonNullable<PaymentRecord['outcome']> {
  return { success, payer: RECORD.payer, transaction: success ? digest : '', network: RECORD.network }
}
