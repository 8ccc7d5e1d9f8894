// Pages with a picture that chats show of them. Chats take no picture without a host, which a built page does not know: it gets the
// relay's.

import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { type ContentCoding, takesCoding } from '../../http/content-coding.ts'
import type { StoredFile } from '../http/stored-file.ts'

const PICTURE = 'property="og:image" content="'
/** Each page is compressed once, in a thread. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

const compress = promisify(brotliCompress)

export interface PicturedPage {
  body: Buffer
  coding: ContentCoding | undefined
}

export class PicturedPages {
  readonly #origin: string
  /** The compressed forms by path, and the versions of the files; as many as there are pages. */
  readonly #compressed = new Map<string, { version: string; body: Promise<Buffer | undefined> }>()

  /** @param origin of the relay's URL */
  constructor(origin: string) {
    this.#origin = origin
  }

  /**
   * @param accepted the header `Accept-Encoding`
   * @returns undefined for a file that has no picture
   */
  async of(file: StoredFile, accepted: string | undefined): Promise<PicturedPage | undefined> {
    if (!file.path.endsWith('.html')) return undefined
    const coding = takesCoding(accepted, 'br') ? 'br' : undefined
    const body = await (coding === undefined ? this.#read(file) : this.#compressedOf(file))
    return body && { body, coding }
  }

  async #read({ path }: StoredFile): Promise<Buffer | undefined> {
    const html = await readFile(path, 'utf8')
    const found = html.replaceAll(`${PICTURE}/`, `${PICTURE}${this.#origin}/`)
    return found === html ? undefined : Buffer.from(found)
  }

  #compressedOf(file: StoredFile): Promise<Buffer | undefined> {
    const { path, version } = file
    const kept = this.#compressed.get(path)
    if (kept?.version === version) return kept.body
    const body = this.#read(file).then((page) => page && compress(page, BROTLI))
    this.#compressed.set(path, { version, body })
    body.catch(() => this.#compressed.delete(path))
    return body
  }
}
