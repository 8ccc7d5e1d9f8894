// Keeps relays.json: the known relays, so that a restarted relay needs no bootstrap relay.

import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { RelayDescriptor } from '@svc/protocol'
import { now } from '../../core/clock.ts'
import type { Logger } from '../../core/log/log.ts'
import { readIfPresent, StateFileError, sizeIfPresent, writePrivate } from '../../core/storage/state-file.ts'
import type { WriteHealth } from '../../core/storage/write-health.ts'
import type { KnownRelays } from './known-relays.ts'
import { STATE_FILE_MAX_BYTES, STATE_LOOK_MS, STATE_REFRESH_MS, STATE_WRITE_PER_RELAY_MS } from './limits.ts'

const FILE = 'relays.json'
const DAMAGED = `${FILE}.damaged`
const WATCHED = { name: FILE, meanwhile: 'a restart would know the relays of the last write alone' }

interface StoredRelay {
  descriptor: RelayDescriptor
  network: string
  release: string
}

export interface RelaysFileParts {
  /** State directory. */
  directory: string
  relays: KnownRelays
  health: WriteHealth
  log: Logger
}

/**
 * Reads the file. A damaged one is set aside, with a warning.
 * @param restore restores one relay; throws when the entry is not a relay
 * @throws SettingsError when the file cannot be read, StateFileError when it cannot be set aside
 */
export async function restoreRelays(
  directory: string,
  restore: (stored: StoredRelay) => void,
  log: Logger,
): Promise<void> {
  const path = join(directory, FILE)
  const isTooLong = (await sizeIfPresent(path)) > STATE_FILE_MAX_BYTES
  const text = isTooLong ? '' : await readIfPresent(path)
  if (text === undefined) return
  try {
    for (const stored of storedRelays(text)) restore(stored)
  } catch {
    const aside = join(directory, DAMAGED)
    await rename(path, aside).catch((error) => {
      throw new StateFileError(aside, error)
    })
    log.warn({ file: path, keptAs: DAMAGED }, 'the file of known relays is damaged and was set aside')
  }
}

export class RelaysFile {
  readonly #parts: RelaysFileParts
  readonly #timer: NodeJS.Timeout
  /** Set while a change waits. */
  #pause: NodeJS.Timeout | undefined
  /** Generation of the table in the file. */
  #written: number
  #writtenAt: number = now()
  #triedAt: number = now()
  #writing: Promise<void> | undefined

  constructor(parts: RelaysFileParts) {
    this.#parts = parts
    this.#written = parts.relays.generation
    this.#timer = setInterval(() => this.#writeIfDue(), STATE_LOOK_MS).unref()
    parts.relays.onChange = () => this.#writeSoon()
  }

  /** Writes the last state. Never rejects. */
  async close(): Promise<void> {
    this.#parts.relays.onChange = undefined
    clearInterval(this.#timer)
    clearTimeout(this.#pause)
    await this.#writing
    if (this.#parts.relays.size > 0 || this.#written !== this.#parts.relays.generation) await this.#write()
  }

  /** Writes a new relay to disk at once, unless many arrive in a row. */
  #writeSoon(): void {
    const waitMs = this.#triedAt + this.#parts.relays.size * STATE_WRITE_PER_RELAY_MS - now()
    this.#pause ??= setTimeout(
      () => {
        this.#pause = undefined
        this.#writeIfDue()
      },
      Math.max(0, waitMs),
    ).unref()
  }

  #writeIfDue(): void {
    const { relays } = this.#parts
    const isOld = relays.size > 0 && now() - this.#writtenAt >= STATE_REFRESH_MS
    if (this.#writing !== undefined || (this.#written === relays.generation && !isOld)) return
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined
      // `health` retries a failed write.
      if (this.#triedAt === this.#writtenAt && this.#written !== relays.generation) this.#writeSoon()
    })
  }

  /** Never rejects: `health` reports a failure, and retries. */
  async #write(): Promise<void> {
    const { directory, relays, health } = this.#parts
    const { generation } = relays
    const triedAt = now()
    this.#triedAt = triedAt
    const text = `${JSON.stringify({ relays: [...relays].map(stored) })}\n`
    const write = (): Promise<void> => writePrivate(join(directory, FILE), text)
    try {
      await health.watch(WATCHED, write, () => this.#write())
      this.#written = generation
      this.#writtenAt = triedAt
    } catch {}
  }
}

function stored({ descriptor, network, release }: StoredRelay): StoredRelay {
  return { descriptor, network, release }
}

/** @throws Error for a text of another form */
function storedRelays(text: string): StoredRelay[] {
  const { relays } = JSON.parse(text)
  if (!Array.isArray(relays)) throw new SyntaxError('no list of relays')
  return relays.map(({ descriptor, network, release }) => {
    if (typeof network !== 'string' || typeof release !== 'string') throw new SyntaxError('no relay')
    return { descriptor, network, release }
  })
}
