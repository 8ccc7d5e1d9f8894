// Keeps ens-names.txt: hostnames whose ENS records the provider has or may have, so that a restart can remove them.

import { join } from 'node:path'
import type { Logger } from '../log/log.ts'
import { readIfPresent, sizeIfPresent, writePrivate } from '../storage/state-file.ts'
import { ENS_FILE_MAX_BYTES, ENS_NAMES_MAX } from './limits.ts'

const FILE = 'ens-names.txt'
/** A hostname, a blank, and the value of its TXT record. */
const LINE = /^([a-z0-9.-]{1,253}) (ENS1 0x[0-9a-zA-Z]{40} 0x[0-9a-fA-F]{40})$/
const LINES_PER_WRITE = 1000

export class PublishedNames {
  readonly #path: string
  readonly #texts: Map<string, string>
  /** Whether a name was added, or one removed, since the last write. */
  #isChanged = false
  #hasRemoved = false

  private constructor(path: string, texts: Map<string, string>) {
    this.#path = path
    this.#texts = texts
  }

  /**
   * A line that makes no sense is left out, with a warning, and so is a hostname that is not the root host or below it.
   * @throws SettingsError when the file cannot be read
   */
  static async load(directory: string, rootHost: string, log: Logger): Promise<PublishedNames> {
    const path = join(directory, FILE)
    const isTooLong = (await sizeIfPresent(path)) > ENS_FILE_MAX_BYTES
    const text = isTooLong ? undefined : await readIfPresent(path)
    if (isTooLong) log.warn({ file: path }, 'the file of ENS names is too long and is left out')
    const lines = (text ?? '').split('\n').filter((line) => line !== '')
    const texts = new Map<string, string>()
    for (const line of lines.slice(0, ENS_NAMES_MAX)) {
      const [, hostname, value] = LINE.exec(line) ?? []
      if (hostname !== undefined && value !== undefined && isOf(hostname, rootHost))
        texts.set(hostname, value)
    }
    const ignored = lines.length - texts.size
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
      this.#isChanged = true
    }
    if (this.#isChanged) await this.write()
  }

  /** Written with the next change: until then a name is there that has no records, which costs a removal at a restart. */
  remove(hostname: string): void {
    this.#hasRemoved = this.#texts.delete(hostname) || this.#hasRemoved
  }

  /** Writes what was changed. @throws StateFileError */
  async write(): Promise<void> {
    if (!this.#isChanged && !this.#hasRemoved) return
    await writePrivate(this.#path, this.#lines())
    this.#isChanged = false
    this.#hasRemoved = false
  }

  async *#lines(): AsyncGenerator<string> {
    const lines = [...this.#texts].map(([hostname, text]) => `${hostname} ${text}\n`)
    for (let at = 0; at < lines.length; at += LINES_PER_WRITE)
      yield lines.slice(at, at + LINES_PER_WRITE).join('')
  }
}

function isOf(hostname: string, rootHost: string): boolean {
  return hostname === rootHost || hostname.endsWith(`.${rootHost}`)
}
