// The journal of payments in IndexedDB does what every journal has to do.

import { expect, test } from 'vitest'
import { RECORD, testJournal } from '../../../payment/test/journal-compliance.ts'
import { openPaymentJournal } from '../../src/payment/index.ts'

testJournal(async () => {
  const name = crypto.randomUUID()
  return { journal: await openPaymentJournal(name), reopen: () => openPaymentJournal(name) }
})

test('pages of one origin see what the others noted; journals of other names are apart', async () => {
  const name = crypto.randomUUID()
  const [one, other] = await Promise.all([openPaymentJournal(name), openPaymentJournal(name)])
  await one.note(RECORD)
  expect(await other.find(RECORD.digest)).toEqual(RECORD)
  expect(await (await openPaymentJournal(crypto.randomUUID())).find(RECORD.digest)).toBeUndefined()
})
