// The journal in one file: what every journal does, and what a crash or a full disk leaves of the file.

import { describe, expect, test } from 'vitest'
import { type JournalFile, openLogJournal } from '../src/index.ts'
import { RECORD, testJournal } from './journal-compliance.ts'

/** A file in memory that may fail, and counts what is asked of it. */
class TestFile implements JournalFile {
  text: string | undefined
  /** Characters that the disk still has room for. */
  room = Number.POSITIVE_INFINITY
  appends = 0

  read(): Promise<string | undefined> {
    return Promise.resolve(this.text)
  }

  append(text: string): Promise<void> {
    this.appends += 1
    this.text = `${this.text ?? ''}${text.slice(0, this.room)}`
    return text.length > this.room ? Promise.reject(new Error('ENOSPC')) : Promise.resolve()
  }

  replace(text: string): Promise<void> {
    if (text.length > this.room) return Promise.reject(new Error('ENOSPC'))
    this.text = text
    return Promise.resolve()
  }
}

testJournal(async () => {
  const file = new TestFile()
  return { journal: await openLogJournal(file), reopen: () => openLogJournal(file) }
})

describe('the file', () => {
  test('a line that a crash cut off is forgotten, and does not spoil the next one', async () => {
    const file = new TestFile()
    const journal = await openLogJournal(file)
    await journal.note(RECORD)
    file.text += '{"digest":"half'
    const again = await openLogJournal(file)
    await again.note({ ...RECORD, digest: 'next' })
    const third = await openLogJournal(file)
    expect((await third.open()).map(({ digest }) => digest)).toEqual([RECORD.digest, 'next'])
  })

  test('a line in the middle that is no record is an error that names the line', async () => {
    const file = new TestFile()
    file.text = `${JSON.stringify(RECORD)}\nnonsense\n${JSON.stringify(RECORD)}\n`
    await expect(openLogJournal(file)).rejects.toMatchObject({
      code: 'journal_failed',
      message: 'line 2 of the journal of payments is no record',
    })
  })

  test('what a full disk did not take is not found, and the next record makes the file whole', async () => {
    const file = new TestFile()
    const journal = await openLogJournal(file)
    await journal.note(RECORD)
    file.room = 20
    await expect(journal.note({ ...RECORD, digest: 'lost' })).rejects.toMatchObject({
      code: 'journal_failed',
    })
    expect(await journal.find('lost')).toBeUndefined()
    file.room = Number.POSITIVE_INFINITY
    await journal.note({ ...RECORD, digest: 'kept' })
    const digests = (await (await openLogJournal(file)).open()).map(({ digest }) => digest)
    expect(digests).toEqual([RECORD.digest, 'kept'])
  })

  test('records that wait for the disk share one write', async () => {
    const file = new TestFile()
    const journal = await openLogJournal(file)
    await journal.note(RECORD)
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => journal.note({ ...RECORD, digest: `${index}` })),
    )
    expect(file.appends).toBe(1)
  })

  test('a file that has grown too long is written anew with the last line of each payment', async () => {
    const file = new TestFile()
    const journal = await openLogJournal(file)
    const longest = 32 * 1024 * 1024
    const resource = `https://demo.relay.example/${'a'.repeat(1_000_000)}`
    for (let round = 0; round < 40; round++) await journal.note({ ...RECORD, resource, notedAt: round })
    expect(file.text!.length).toBeLessThan(longest)
    expect(await (await openLogJournal(file)).find(RECORD.digest)).toMatchObject({ notedAt: 39 })
  })
})
