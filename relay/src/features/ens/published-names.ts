// Maintains ens-names.txt: hostnames whose ENS records the provider has or may have, so that a restart can remove them.
// The first write of a process replaces the file; later ones append, until the file has more superfluous lines than
// names.

import { join } from 'node:path'
import type { Logger } from '../../core/log/log.ts'
import { appendPrivate, readIfPresent, sizeIfPresent, writePrivate } from '../../core/storage/state-file.ts'
import { ENS_FILE_MAX_BYTES, ENS_NAMES_MAX, ENS_SPARE_LINES } from './limits.ts'

const FILE = 'ens-names.txt'
/** A hostname, a blank, and the value of its TXT record. */
const LINE = /^([a-z0-9.-]{1,253}) (ENS1 0x[0-9a-zA-Z]{40} 0x[0-9a-fA-F]{40})$/
const LINES_PER_WRITE = 1000

export class PublishedNames {
  readonly #path: string
  readonly #texts: Map<string, string>
  /** Names that the file does not have yet. */
  readonly #added = new Set<string>()
  #hasRemoved = false
  /** Lines and bytes that may be appended before the file is replaced. */
  #spareLines = 0
  #spareBytes = 0

  private constructor(path: string, texts: Map<string, string>) {
    this.#path = path
    this.#texts = texts
  }

  /**
   * Invalid lines are skipped with a warning, and so are hostnames that are not the root host or below it.
   * @throws SettingsError when the file cannot be read
   */
  static async load(directory: string, rootHost: string, log: Logger): Promise<PublishedNames> {
    const path = join(directory, FILE)
    const isTooLong = (await sizeIfPresent(path)) > ENS_FILE_MAX_BYTES
    const text = isTooLong ? undefined : await readIfPresent(path)
    if (isTooLong) log.warn({ file: path }, 'the file of ENS names is too long and is left out')
    const lines = (text ?? '').split('\n').filter((line) => line !== '')
    const texts = new Map<string, string>()
    let ignored = 0
    for (const line of lines) {
      const [, hostname, value] = LINE.exec(line) ?? []
      // A hostname's last line is its newest.
      const isRoom = hostname !== undefined && (texts.size < ENS_NAMES_MAX || texts.has(hostname))
      if (isRoom && value !== undefined && isOf(hostname, rootHost)) texts.set(hostname, value)
      else ignored++
    }
    if (ignored > 0)
      log.warn({ file: path, ignored }, 'lines of the file of ENS names are left out: their records stay')
    return new PublishedNames(path, texts)
  }

  [Symbol.iterator](): Iterator<[hostname: string, text: string]> {
    return this.#texts.entries()
  }

  /** Resolves when the names are on disk. @throws StateFileError */
  async add(names: Iterable<readonly [hostname: string, text: string]>): Promise<void> {
    for (const [hostname, text] of names) {
      if (this.#texts.get(hostname) === text) continue
      this.#texts.set(hostname, text)
      this.#added.add(hostname)
    }
    if (this.#added.size > 0) await this.#append()
  }

  /** The name leaves the file when that is replaced; until then a restart would remove its records once more. */
  remove(hostname: string): void {
    this.#hasRemoved = this.#texts.delete(hostname) || this.#hasRemoved
    this.#added.delete(hostname)
  }

  /** Replaces the file with the current names if something changed. @throws StateFileError */
  async write(): Promise<void> {
    if (this.#added.size === 0 && !this.#hasRemoved) return
    const lines = [...this.#texts].map(lineOf)
    this.#spareLines = 0
    await writePrivate(this.#path, inPieces(lines))
    this.#added.clear()
    this.#hasRemoved = false
    // This keeps the file near twice as many lines as names at most, and the total time of all writes linear.
    this.#spareLines = lines.length + ENS_SPARE_LINES
    this.#spareBytes = ENS_FILE_MAX_BYTES - lines.reduce((bytes, line) => bytes + line.length, 0)
  }

  /** @throws StateFileError; the next write then replaces the file, which may end in the middle of a line */
  async #append(): Promise<void> {
    const lines = [...this.#added].map((hostname) => lineOf([hostname, this.#texts.get(hostname) ?? '']))
    const text = lines.join('')
    const isRoom = lines.length <= this.#spareLines && text.length <= this.#spareBytes
    if (!isRoom) return await this.write()
    const spareLines = this.#spareLines - lines.length
    this.#spareLines = 0
    await appendPrivate(this.#path, text)
    this.#added.clear()
    this.#spareLines = spareLines
    this.#spareBytes -= text.length
  }
}

async function* inPieces(lines: readonly string[]): AsyncGenerator<string> {
  for (let at = 0; at < lines.length; at += LINES_PER_WRITE)
    yield lines.slice(at, at + LINES_PER_WRITE).join('')
}

/** The line is ASCII, so that its length is its size in bytes. */
function lineOf([hostname, text]: readonly [hostname: string, text: string]): string {
  return `${hostname} ${text}\n`
}

function isOf(hostname: string, rootHost: string): boolean {
  return hostname === rootHost || hostname.endsWith(`.${rootHost}`)
}
