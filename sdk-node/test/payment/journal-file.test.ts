// The journal of payments as a file: what every journal has to do, and what a file has to be.

import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RECORD, testJournal } from '../../../payment/test/journal-compliance.ts'
import { openPaymentJournal } from '../../src/payment/index.ts'

let folder: string
let journals = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-journal-'))
})
afterAll(() => rm(folder, { recursive: true }))

function newPath(): string {
  journals += 1
  return join(folder, 'below', `${journals}.jsonl`)
}

testJournal(async () => {
  const path = newPath()
  return { journal: await openPaymentJournal(path), reopen: () => openPaymentJournal(path) }
})

test('only its owner may read the file, and a line that a crash cut off is not taken for a record', async () => {
  const path = newPath()
  const journal = await openPaymentJournal(path)
  await journal.note(RECORD)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  await appendFile(path, '{"digest":"ha')
  const again = await openPaymentJournal(path)
  expect(await again.open()).toEqual([RECORD])
  await again.note({ ...RECORD, digest: 'next' })
  expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(3)
})

test('a disk that changed a record is told, and a folder is no journal', async () => {
  const path = newPath()
  await (await openPaymentJournal(path)).note(RECORD)
  await appendFile(path, 'nonsense\n')
  await expect(openPaymentJournal(path)).rejects.toMatchObject({ code: 'journal_failed' })
  await expect(openPaymentJournal(folder)).rejects.toThrow('EISDIR')
})
