// Keeps the traffic and the history of sites in history.jsonl, so that a restarted relay knows them. The file has no address
// of a visitor, and nothing of what they asked for.

import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { LeaseHistory } from '../lease/lease-history.ts'
import type { Logger } from '../log/log.ts'
import { GroupCommit } from '../storage/group-commit.ts'
import { readBytesIfPresent, sizeIfPresent, writePrivate } from '../storage/state-file.ts'
import type { WriteHealth } from '../storage/write-health.ts'
import { formatSite, parseSite, type StoredSite } from './history-format.ts'
import type { KeptTraffic, LeaseTraffic } from './lease-traffic.ts'
import { HOUR_MS } from './traffic-record.ts'

/** The file is never larger: of what is beyond it, the sites are left out of which nothing was heard for longest. */
const HISTORY_FILE_MAX_BYTES: number = 16 * 1024 * 1024
/** The time between two writes, for each MiB of the file that was begun. */
export const HISTORY_WRITE_MS = 60_000
const MIB: number = 1024 * 1024
/** Lines that are read or formatted in one turn of the event loop. */
const LINES_PER_TURN = 50

export const HISTORY_FILE = 'history.jsonl'
const WATCHED = {
  name: HISTORY_FILE,
  meanwhile: 'a restart forgets the traffic and the history of sites since then',
}

export interface SiteHistoryParts {
  directory: string
  traffic: Pick<LeaseTraffic, 'changes' | 'stored' | 'restore'>
  history: Pick<LeaseHistory, 'changes' | 'stored' | 'restore'>
  health: WriteHealth
  log: Logger
  /** @default HISTORY_FILE_MAX_BYTES */
  maxBytes?: number
}

export class SiteHistoryFile {
  readonly #parts: SiteHistoryParts
  readonly #path: string
  readonly #commits: GroupCommit
  /** What the file has, as numbers that change with it. */
  #written: string
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  private constructor(parts: SiteHistoryParts, bytes: number) {
    this.#parts = parts
    this.#path = join(parts.directory, HISTORY_FILE)
    this.#written = this.#changes
    this.#commits = new GroupCommit(() =>
      parts.health.watch(
        WATCHED,
        () => this.#write(),
        // A try takes the room that a full disk has left from files that matter more, so that it has its own, slower time.
        async () => {},
      ),
    )
    this.#schedule(bytes)
  }

  /** Restores what the file has. What cannot be read of it is left out, and the next write replaces it. */
  static async open(parts: SiteHistoryParts): Promise<SiteHistoryFile> {
    const bytes = await restore(parts).catch((error) => {
      parts.log.warn({ err: error }, 'the history of sites cannot be read: the relay begins a new one')
      return 0
    })
    return new SiteHistoryFile(parts, bytes)
  }

  /** Writes the file when something has changed since the last time. Never rejects: a failed write is logged. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#commits.commit().catch(() => {})
  }

  get #changes(): string {
    const { traffic, history } = this.#parts
    return `${traffic.changes} ${history.changes}`
  }

  #schedule(bytes: number): void {
    if (this.#isClosed) return
    const waitMs = HISTORY_WRITE_MS * Math.max(1, Math.ceil(bytes / MIB))
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#commits.commit().catch(() => {}), waitMs).unref()
  }

  async #write(): Promise<void> {
    const changes = this.#changes
    let bytes = 0
    try {
      if (changes === this.#written) return
      const content = formatted(this.#parts, (size) => {
        bytes += size
      })
      await writePrivate(this.#path, content)
      this.#written = changes
    } finally {
      this.#schedule(bytes)
    }
  }
}

/** @returns the size of the file */
async function restore({ directory, traffic, history, log, maxBytes }: SiteHistoryParts): Promise<number> {
  const path = join(directory, HISTORY_FILE)
  const size = await sizeIfPresent(path)
  if (size > (maxBytes ?? HISTORY_FILE_MAX_BYTES)) throw new Error(`${path} has ${size} bytes`)
  const bytes = await readBytesIfPresent(path)
  if (bytes === undefined) return 0
  let damaged = 0
  for (const [index, line] of bytes.toString().split('\n').entries()) {
    if (index % LINES_PER_TURN === LINES_PER_TURN - 1) await setImmediate()
    const site = line === '' ? undefined : parseSite(line)
    if (site?.traffic !== undefined) traffic.restore(site.traffic)
    if (site?.identityKey !== undefined && site.history !== undefined)
      history.restore(site.identityKey, site.history)
    if (site === undefined && line !== '') damaged += 1
  }
  if (damaged > 0) log.warn({ path, lines: damaged }, 'lines of the history of sites cannot be read')
  return size
}

/** The file in pieces, those first of whom something was heard last. @param wrote called with the size of each */
async function* formatted(
  { traffic, history, maxBytes = HISTORY_FILE_MAX_BYTES }: SiteHistoryParts,
  wrote: (bytes: number) => void,
): AsyncGenerator<string> {
  let [piece, room, lines] = ['', maxBytes, 0]
  for (const { identityKey, traffic: kept, history: events } of sitesOf(traffic, history)) {
    const hours = kept && { ...kept, hours: kept.read() }
    const text = formatSite({ identityKey, traffic: hours, history: events })
    room -= Buffer.byteLength(text)
    if (room < 0) break
    piece += text
    lines += 1
    if (lines % LINES_PER_TURN !== 0) continue
    wrote(Buffer.byteLength(piece))
    yield piece
    piece = ''
    await setImmediate()
  }
  wrote(Buffer.byteLength(piece))
  yield piece
}

interface KeptSite extends Omit<StoredSite, 'traffic'> {
  traffic?: KeptTraffic
}

function sitesOf(traffic: Pick<LeaseTraffic, 'stored'>, history: Pick<LeaseHistory, 'stored'>): KeptSite[] {
  const sites = new Map<string | undefined, KeptSite>()
  for (const kept of traffic.stored())
    if (kept.lastHour > 0) sites.set(kept.identityKey, { identityKey: kept.identityKey, traffic: kept })
  for (const [identityKey, events] of history.stored())
    sites.set(identityKey, { ...sites.get(identityKey), identityKey, history: events })
  return [...sites.values()].sort((one, other) => heardAt(other) - heardAt(one))
}

/** Relay time; the sums of all come first. */
function heardAt({ identityKey, traffic, history }: KeptSite): number {
  if (identityKey === undefined) return Number.POSITIVE_INFINITY
  return Math.max((traffic?.lastHour ?? 0) * HOUR_MS, history?.changedAt ?? 0)
}
