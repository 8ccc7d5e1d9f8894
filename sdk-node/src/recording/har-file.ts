// A HAR file that is whole after each entry.

import { type FileHandle, open, rm } from 'node:fs/promises'
import { SvcError } from '@svc/sdk-core'
import { RELEASE_VERSION } from '../version.ts'

const END = '\n]}}\n'

/** A HarFile grows by entries. */
export class HarFile {
  readonly #path: string
  readonly #file: FileHandle
  /** Where the next entry begins: at the end of the list. */
  #at: number
  #isEmpty = true

  private constructor(path: string, file: FileHandle, at: number) {
    this.#path = path
    this.#file = file
    this.#at = at
  }

  /**
   * Creates the file, for its owner alone.
   * @throws SvcError `invalid_option` when it is there already, or cannot be written
   */
  static async create(path: string): Promise<HarFile> {
    const file = await open(path, 'wx', 0o600).catch((cause) => {
      const why =
        cause.code === 'EEXIST' ? 'is there already: remove it, or name another' : 'cannot be written'
      throw new SvcError('invalid_option', `${path} ${why}`, { cause })
    })
    const creator = JSON.stringify({ name: 'svc', version: RELEASE_VERSION })
    const head = `{"log":{"version":"1.2","creator":${creator},"entries":[`
    await file.writeFile(head + END)
    return new HarFile(path, file, Buffer.byteLength(head))
  }

  /** @throws SvcError `invalid_option` */
  async add(entry: string): Promise<void> {
    const bytes = Buffer.from(`${this.#isEmpty ? '' : ','}\n${entry}${END}`)
    await this.#file.write(bytes, 0, bytes.length, this.#at).catch((cause) => {
      throw new SvcError('invalid_option', `${this.#path} cannot be written`, { cause })
    })
    this.#at += bytes.length - END.length
    this.#isEmpty = false
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  /** Removes the file. */
  async remove(): Promise<void> {
    await this.#file.close()
    await rm(this.#path, { force: true })
  }
}
