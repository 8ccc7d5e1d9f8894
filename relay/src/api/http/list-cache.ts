// The pages of a list as they are sent: each made once for all who ask for it at a time, and bounded in memory, those that
// are still on their way to a client included.

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Envelope } from '@svc/protocol'
import { RelayError } from '../../errors.ts'
import {
  COMPRESSED_MIN_BYTES,
  FIRST_LIST_PAGE_RATE,
  LIST_CACHE_MAX_BYTES,
  OTHER_LIST_PAGE_RATE,
} from '../../limits.ts'
import { GcraLimiter } from '../../rate-limit/gcra.ts'
import { entityTag } from './entity-tag.ts'

const compress = promisify(gzip)

export interface CachedList {
  readonly body: Buffer
  /** Of the body, and of its compressed form: equal bodies have equal tags, and others have others. */
  readonly tag: string
  readonly gzipTag: string
  /** Compressed for the first who asks; undefined where nothing is gained, or while another page is compressed. */
  gzip(): Promise<Buffer | undefined>
  /** It is on its way to nobody any more; to be called once for each time that it was taken. */
  release(): void
}

interface Kept {
  body: Buffer
  tag: string
  compressed: Promise<Buffer | undefined> | undefined
  bytes: number
  uses: number
  isListed: boolean
}

export class ListCache {
  readonly #make: (after: string) => unknown
  readonly #maxBytes: number
  /** By cursor; the one that was asked for longest ago is first. */
  readonly #pages = new Map<string, Kept>()
  readonly #rates = {
    first: new GcraLimiter(1, FIRST_LIST_PAGE_RATE),
    others: new GcraLimiter(1, OTHER_LIST_PAGE_RATE),
  }
  /** Of listed pages, and of others that are on their way. */
  #bytes = 0
  #isCompressing = false

  /**
   * @param make the data of the page behind a cursor; that of the first page is empty
   * @param maxBytes of all pages that are kept or on their way
   */
  constructor(make: (after: string) => unknown, maxBytes: number = LIST_CACHE_MAX_BYTES) {
    this.#make = make
    this.#maxBytes = maxBytes
  }

  /** Bytes of all pages that are kept or on their way. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * The page as it is now; as it was a moment ago when it was made too often.
   * @throws RelayError `rate_limited` when it cannot be made now, and what `make` throws
   */
  take(after: string): CachedList {
    const known = this.#pages.get(after)
    const page = this.#made(after, known) ?? known
    if (page === undefined)
      throw new RelayError('rate_limited', 'too many pages of this list at once', { 'Retry-After': '1' })
    this.#pages.delete(after)
    this.#pages.set(after, page)
    page.uses += 1
    return {
      body: page.body,
      tag: page.tag,
      gzipTag: `${page.tag.slice(0, -1)}-gzip"`,
      gzip: () => this.#gzip(page),
      release: () => this.#release(page),
    }
  }

  #made(after: string, known: Kept | undefined): Kept | undefined {
    const now = performance.now()
    const rate = after === '' ? this.#rates.first : this.#rates.others
    if (rate.waitMs(0, 1, now) > 0) return undefined
    rate.spend(0, 1, now)
    const text = JSON.stringify({ ok: true, data: this.#make(after) } satisfies Envelope<unknown>)
    const tag = entityTag(text)
    if (known?.tag === tag) return known
    const body = Buffer.from(text)
    if (!this.#makeRoom(body.length)) return undefined
    if (known !== undefined) this.#unlist(after, known)
    this.#bytes += body.length
    const page: Kept = { body, tag, compressed: undefined, bytes: body.length, uses: 0, isListed: true }
    this.#pages.set(after, page)
    return page
  }

  #makeRoom(bytes: number): boolean {
    for (const [after, page] of this.#pages) {
      if (this.#bytes + bytes <= this.#maxBytes) return true
      if (page.uses === 0) this.#unlist(after, page)
    }
    return this.#bytes + bytes <= this.#maxBytes
  }

  #unlist(after: string, page: Kept): void {
    this.#pages.delete(after)
    page.isListed = false
    if (page.uses === 0) this.#bytes -= page.bytes
  }

  #release(page: Kept): void {
    page.uses -= 1
    if (page.uses === 0 && !page.isListed) this.#bytes -= page.bytes
  }

  async #gzip(page: Kept): Promise<Buffer | undefined> {
    if (page.compressed === undefined) {
      if (this.#isCompressing || page.body.length < COMPRESSED_MIN_BYTES) return undefined
      this.#isCompressing = true
      page.compressed = compress(page.body).then(
        (compressed) => this.#account(page, compressed),
        () => undefined,
      )
      void page.compressed.then(() => (this.#isCompressing = false))
    }
    return await page.compressed
  }

  #account(page: Kept, compressed: Buffer): Buffer | undefined {
    if (compressed.length >= page.body.length) return undefined
    // Who asked for it has not released it yet: it is counted as long as anybody has it.
    page.bytes += compressed.length
    this.#bytes += compressed.length
    return compressed
  }
}
