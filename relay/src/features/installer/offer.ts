// Reads what this relay offers to install: the downloads of a directory, according to their checksum file.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CHECKSUMS, DOWNLOADS } from '../../core/api/endpoints/download-names.ts'
import { findFile } from '../../core/api/http/stored-file.ts'

/**
 * Bytes of the checksum file of the installer's downloads; a longer file counts as none. Seven lines take 600 bytes.
 */
export const CHECKSUMS_MAX_BYTES: number = 16 * 1024

/** The relay's downloads and address, from which the installer renders its scripts. */
export interface Offer {
  /** Origin of the relay's URL. */
  origin: string
  /** Release of the relay and of its downloads. */
  release: string
  /** SHA-256 of each compressed download by its name, in hexadecimal; empty: the relay has none. */
  sums: ReadonlyMap<string, string>
}

/** Lowest major version of Node that runs the bundle. */
export const NODE_MAJOR_MIN = 24
/** A line as `sha256sum` writes it. */
const LINE = /^([0-9a-f]{64}) [ *](?:\.\/)?([\w.-]+)$/

/** Names of the downloads by their gzip files. */
const NAMES: ReadonlyMap<string, string> = new Map(DOWNLOADS.map(({ name, file }) => [`${file}.gz`, name]))

export class Checksums {
  #version = ''
  #sums: ReadonlyMap<string, string> = new Map()

  /** @returns the sums of the downloads in the directory, read again only when their file has changed */
  async read(directory: string): Promise<ReadonlyMap<string, string>> {
    const file = await findFile(join(directory, 'bin', CHECKSUMS))
    if (file === undefined || file.size > CHECKSUMS_MAX_BYTES) return new Map()
    if (this.#version !== file.version) {
      this.#sums = parse(await readFile(file.path, 'utf8'))
      this.#version = file.version
    }
    return this.#sums
  }
}

function parse(text: string): ReadonlyMap<string, string> {
  const sums = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const [, sum = '', file = ''] = LINE.exec(line) ?? []
    const name = NAMES.get(file)
    if (name !== undefined) sums.set(name, sum)
  }
  return sums
}
