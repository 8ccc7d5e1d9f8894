// leases.jsonl: every change of a reservation as a line, so that a restarted relay knows who holds what. No secrets.

import { copyFile, type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { GroupCommit } from '../group-commit.ts'
import { JOURNAL_SPARE_LINES } from '../limits.ts'
import type { Logger } from '../log.ts'
import { z } from '../schema.ts'
import { readIfPresent, writePrivate } from '../state-file.ts'
import { type Reservation, Reservations } from './reservations.ts'

/** Lines that are made between two turns of the event loop while the file is written anew. */
const LINES_PER_TURN = 500

const port = z.int().min(1).max(65_535).optional()
const line = z.object({
  identity_key: z.string(),
  hostname: z.string(),
  expires_at: z.iso.datetime().transform(Date.parse),
  ports: z.object({ tcp: port, udp: port }).optional(),
})

export class ReservationJournal {
  readonly reservations: Reservations = new Reservations((key, reservation) =>
    this.#changes.push(format(key, reservation)),
  )
  readonly #path: string
  readonly #changes: string[] = []
  readonly #commits = new GroupCommit(() => this.#write())
  /** Undefined until the file is whole and ours to append to. */
  #file: FileHandle | undefined
  #lines = 0

  private constructor(path: string) {
    this.#path = path
  }

  /** A damaged file is put aside, and what can be read of it holds: leases renew themselves, refusing to start would not. */
  static async open(directory: string, log: Logger): Promise<ReservationJournal> {
    const path = join(directory, 'leases.jsonl')
    const journal = new ReservationJournal(path)
    const damaged = journal.#read((await readIfPresent(path)) ?? '')
    if (damaged > 0) {
      const aside = `${path}.damaged-${new Date().toISOString()}`
      await copyFile(path, aside)
      log.error({ path, aside, lines: damaged }, 'lines of the leases file cannot be read: it was put aside')
      await journal.durable()
    }
    return journal
  }

  /** Resolves when all changes so far are on disk. */
  async durable(): Promise<void> {
    await this.#commits.commit()
  }

  async close(): Promise<void> {
    await this.durable()
    await this.#file?.close()
    this.#file = undefined
  }

  /** @returns how many lines make no sense. The last one may be cut off: a crash left it, before anybody relied on it. */
  #read(text: string): number {
    const lines = text.split('\n')
    lines.pop()
    let damaged = 0
    for (const text of lines) {
      const entry = parse(text)
      if (entry === undefined) damaged += 1
      else this.reservations.restore(...entry)
    }
    return damaged
  }

  async #write(): Promise<void> {
    const changes = this.#changes.splice(0)
    const isLong = this.#lines + changes.length > 2 * this.reservations.size + JOURNAL_SPARE_LINES
    if (this.#file === undefined || isLong) return await this.#writeAnew()
    try {
      await this.#file.appendFile(changes.join(''))
      await this.#file.datasync()
    } catch (error) {
      // What is in the file now is unknown: the next write makes it whole.
      await this.#leave()
      throw error
    }
    this.#lines += changes.length
  }

  /** All that holds and nothing else. */
  async #writeAnew(): Promise<void> {
    await this.#leave()
    this.#lines = 0
    await writePrivate(this.#path, this.#pieces())
    this.#file = await open(this.#path, 'a')
  }

  async *#pieces(): AsyncGenerator<string> {
    let piece = ''
    for (const [key, reservation] of this.reservations) {
      piece += format(key, reservation)
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

function format(key: string, { hostname, expiresAt, ports }: Reservation): string {
  return `${JSON.stringify({ identity_key: key, hostname, expires_at: new Date(expiresAt).toISOString(), ports })}\n`
}

function parse(text: string): [string, Reservation] | undefined {
  try {
    const { identity_key, hostname, expires_at, ports } = line.parse(JSON.parse(text))
    return [identity_key, { hostname, expiresAt: expires_at, ports }]
  } catch {
    return undefined
  }
}
