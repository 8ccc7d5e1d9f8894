// A journal of payments in one file of appended JSON lines, of which the last one of each digest counts.

import type { PaymentJournal, PaymentRecord } from './journal.ts'
import { KeptRecords } from './kept-records.ts'
import { MAX_JOURNAL_LENGTH } from './limits.ts'
import { PaymentError } from './payment-error.ts'

/** JournalFile is a text file. Writes survive a crash of the machine once the method resolves. */
export interface JournalFile {
  /** Resolves with the whole text; undefined when there is no such file. */
  read(): Promise<string | undefined>
  /** Appends to an existing file. After an error, the file may end with a part of the text. */
  append(text: string): Promise<void>
  /** Replaces the file atomically. */
  replace(text: string): Promise<void>
}

/**
 * Opens a journal, and reads what it has. Nothing is written before the first record.
 * @throws PaymentError `journal_failed` when a line other than the last is invalid, because the disk has changed it
 */
export async function openLogJournal(file: JournalFile): Promise<PaymentJournal> {
  const text = await file.read()
  const records = new KeptRecords()
  for (const record of readLines(text ?? '')) records.set(record)
  // A line that a crash has cut off must not become the beginning of the next one.
  return new LogJournal(file, records, text?.endsWith('\n') === true ? text.length : undefined)
}

class LogJournal implements PaymentJournal {
  readonly #file: JournalFile
  readonly #records: KeptRecords
  /** Length of the file; undefined where the next write must replace it. */
  #length: number | undefined
  /** The lines for the next write. */
  #waiting: string[] = []
  #next: Promise<void> | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(file: JournalFile, records: KeptRecords, length: number | undefined) {
    this.#file = file
    this.#records = records
    this.#length = length
  }

  async note(record: PaymentRecord): Promise<void> {
    const before = this.#records.find(record.digest)
    this.#records.set(record)
    this.#waiting.push(lineOf(record))
    try {
      await this.#write()
    } catch (error) {
      // Memory must not contain what is not on disk.
      this.#records.restore(record.digest, before)
      throw new PaymentError('journal_failed', 'the journal of payments cannot be written', { cause: error })
    }
  }

  find(digest: string): Promise<PaymentRecord | undefined> {
    return Promise.resolve(this.#records.find(digest))
  }

  open(): Promise<PaymentRecord[]> {
    return Promise.resolve(this.#records.open())
  }

  /** Joins all records that arrive during a write into the next one. */
  #write(): Promise<void> {
    this.#next ??= this.#running
      .catch(() => {})
      .then(async () => {
        const text = this.#waiting.join('')
        this.#waiting = []
        this.#running = this.#next!
        this.#next = undefined
        await this.#save(text)
      })
    return this.#next
  }

  async #save(text: string): Promise<void> {
    if (this.#length !== undefined && this.#length + text.length <= MAX_JOURNAL_LENGTH) {
      const length = this.#length + text.length
      this.#length = undefined
      await this.#file.append(text)
      this.#length = length
      return
    }
    const whole = this.#records.all().map(lineOf).join('')
    await this.#file.replace(whole)
    this.#length = whole.length
  }
}

function lineOf(record: PaymentRecord): string {
  return `${JSON.stringify(record)}\n`
}

function readLines(text: string): PaymentRecord[] {
  const lines = text.split('\n')
  // After the last newline there is nothing, or an incomplete record from a crash, which was never confirmed.
  lines.pop()
  return lines.map((line, index) => {
    const record = parse(line)
    if (record === undefined)
      throw new PaymentError('journal_failed', `line ${index + 1} of the journal of payments is no record`)
    return record
  })
}

function parse(line: string): PaymentRecord | undefined {
  try {
    const value = JSON.parse(line)
    return typeof value?.digest === 'string' && typeof value.notedAt === 'number' ? value : undefined
  } catch {
    return undefined
  }
}
