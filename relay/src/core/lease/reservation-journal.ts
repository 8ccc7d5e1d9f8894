// Writes every change of a reservation as a line of leases.jsonl, so that a restarted relay restores it. The file has
// no secrets.

import { constants, copyFile, type FileHandle, link, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { wallClockAhead } from '../clock.ts'
import type { Logger } from '../log/log.ts'
import { GroupCommit } from '../storage/group-commit.ts'
import { readBytesIfPresent, StateFileError, sizeIfPresent, writePrivate } from '../storage/state-file.ts'
import type { WriteHealth } from '../storage/write-health.ts'
import { formatJournalLine, type JournalContent, parseJournal } from './journal-format.ts'
import { type Reservation, Reservations } from './reservations.ts'

/** A longer leases file is put aside unread: twice what the largest number of leases and reservations fills. */
export const JOURNAL_MAX_BYTES: number = 256 * 1024 * 1024
/**
 * Lines of the leases file beyond two for each reservation before the relay writes the file again. It leaves small
 * files alone.
 */
export const JOURNAL_SURPLUS_LINES_MAX = 1024

export const JOURNAL_FILE = 'leases.jsonl'
const WATCHED = {
  name: JOURNAL_FILE,
  meanwhile: 'it serves the sites that it has and refuses new ones',
}
/** Lines that are formatted in one turn of the event loop while the file is written again. */
const LINES_PER_TURN = 500

export class ReservationJournal {
  readonly reservations: Reservations
  readonly #path: string
  readonly #health: WriteHealth
  readonly #log: Logger
  readonly #changes: string[] = []
  readonly #commits = new GroupCommit(() =>
    this.#health.watch(
      WATCHED,
      () => this.#write(),
      () => this.durable(),
    ),
  )
  /** Undefined until the file is complete and open for appending. */
  #file: FileHandle | undefined
  #lines = 0
  /** Wall clock offset of the times in the file. After a step of that clock, all of them must be rewritten. */
  #wallClockAhead = 0
  /** Whether the file must be rewritten, since appending the changes is not enough. */
  #needsWhole = false
  /** Malformed lines of the file, until it is put aside. */
  #damaged = 0

  private constructor(path: string, health: WriteHealth, log: Logger, graceMs: number | undefined) {
    this.reservations = new Reservations((key, reservation) => this.#changed(key, reservation), { graceMs })
    this.#path = path
    this.#health = health
    this.#log = log
  }

  /**
   * Puts a damaged file aside and uses its readable lines: leases renew themselves, so refusing to start would only do
   * harm.
   * @param graceMs as that of {@link Reservations}
   */
  static async open(
    directory: string,
    health: WriteHealth,
    log: Logger,
    graceMs?: number,
  ): Promise<ReservationJournal> {
    const path = join(directory, JOURNAL_FILE)
    const journal = new ReservationJournal(path, health, log, graceMs)
    const { entries, damaged } = await readJournal(path)
    for (const entry of entries) journal.reservations.restore(...entry)
    if (damaged > 0) {
      journal.#damaged = damaged
      journal.#needsWhole = true
      // A full disk is retried; it is no reason not to start.
      await journal.durable().catch(() => {})
    }
    return journal
  }

  /**
   * Resolves when all changes so far are on disk. Without this call they are written a moment later.
   * @throws StateFileError
   */
  async durable(): Promise<void> {
    await this.#commits.commit()
  }

  /** Never rejects: a failed write is logged. */
  async close(): Promise<void> {
    await this.durable().catch((error) =>
      this.#log.error({ err: error }, 'reservations could not be written before the relay ended'),
    )
    await this.#leave()
  }

  #changed(key: string, reservation: Reservation): void {
    this.#changes.push(formatJournalLine(key, reservation))
    // If the disk hangs, changes pile up until writing the whole file is shorter.
    if (this.#isLong(this.#changes.length)) {
      this.#changes.length = 0
      this.#needsWhole = true
    }
    // While the disk fails, retries run on a timer: minor changes do not trigger more.
    if (!this.#health.failing.includes(JOURNAL_FILE)) this.durable().catch(() => {})
  }

  #isLong(lines: number): boolean {
    return lines > 2 * this.reservations.size + JOURNAL_SURPLUS_LINES_MAX
  }

  async #write(): Promise<void> {
    const changes = this.#changes.splice(0)
    if (changes.length === 0 && !this.#needsWhole) return
    const isLong = this.#isLong(this.#lines + changes.length)
    const isWhole = this.#needsWhole || isLong || this.#wallClockAhead !== wallClockAhead()
    this.#needsWhole = false
    try {
      if (this.#file === undefined || isWhole) await this.#writeAnew()
      else await this.#append(this.#file, changes)
    } catch (error) {
      // The content of the file is unknown now, so the next write replaces all of it.
      this.#needsWhole = true
      await this.#leave()
      throw error
    }
  }

  async #append(file: FileHandle, changes: readonly string[]): Promise<void> {
    try {
      await file.appendFile(changes.join(''))
      await file.datasync()
    } catch (error) {
      throw new StateFileError(this.#path, error)
    }
    this.#lines += changes.length
  }

  /** Writes the current reservations and nothing else. */
  async #writeAnew(): Promise<void> {
    await this.#leave()
    this.#lines = 0
    this.#wallClockAhead = wallClockAhead()
    if (this.#damaged > 0) await this.#putAside()
    await writePrivate(this.#path, this.#pieces())
    this.#file = await open(this.#path, 'a')
  }

  async #putAside(): Promise<void> {
    const path = this.#path
    const aside = `${path}.damaged-${new Date().toISOString()}`
    try {
      // A hard link needs no space, and keeps this content when the file is replaced.
      await link(path, aside).catch(() => copyFile(path, aside, constants.COPYFILE_EXCL))
    } catch (error) {
      await rm(aside, { force: true }).catch(() => {})
      throw new StateFileError(aside, error)
    }
    this.#log.error(
      { path, aside, lines: this.#damaged },
      'lines of the leases file cannot be read: it was put aside',
    )
    this.#damaged = 0
  }

  async *#pieces(): AsyncGenerator<string> {
    let piece = ''
    for (const [key, reservation] of this.reservations) {
      piece += formatJournalLine(key, reservation)
      this.#lines += 1
      if (this.#lines % LINES_PER_TURN !== 0) continue
      yield piece
      piece = ''
      await setImmediate()
    }
    yield piece
  }

  async #leave(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close().catch(() => {})
  }
}

async function readJournal(path: string): Promise<JournalContent> {
  const size = await sizeIfPresent(path)
  // No relay writes such a large file.
  if (size > JOURNAL_MAX_BYTES) return { entries: [], damaged: 1 }
  return parseJournal((await readBytesIfPresent(path)) ?? Buffer.alloc(0))
}
