// Caches the pages of a list. Clients that request a page at the same time share one copy; the memory of all pages is
// bounded, pages that are being sent included.

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { GcraLimiter, type Rate } from '@svc/node-kit/gcra'
import type { Envelope } from '@svc/protocol'
import { RelayError } from '../../errors.ts'
import { COMPRESSED_MIN_BYTES } from '../../http/content-coding.ts'
import { entityTag } from '../../http/entity-tag.ts'

/** Pages of one list that are cached or being sent. */
export const LIST_CACHE_MAX_BYTES: number = 16 * 1024 * 1024
/**
 * How often the relay renders the first page of a list again, in about a millisecond each. Above this rate clients get
 * the cached page.
 */
export const FIRST_LIST_PAGE_RATE: Rate = { perMinute: 1_200, burst: 40 }
/** The same for all other pages together. */
export const OTHER_LIST_PAGE_RATE: Rate = { perMinute: 6_000, burst: 200 }
const compress = promisify(gzip)

export interface CachedList {
  readonly body: Buffer
  /** Strong entity tags of the body and of its compressed form. */
  readonly tag: string
  readonly gzipTag: string
  /** Compresses the body once. @returns undefined if it gains nothing, or while another page is compressed */
  gzip(): Promise<Buffer | undefined>
  /** Ends one use of the page. Callers call it once after each {@link ListCache.take}. */
  release(): void
}

interface CachedPage {
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
  /** Pages by cursor, the least recently requested first. */
  readonly #pages = new Map<string, CachedPage>()
  readonly #rates = {
    first: new GcraLimiter(1, FIRST_LIST_PAGE_RATE),
    others: new GcraLimiter(1, OTHER_LIST_PAGE_RATE),
  }
  /** Bytes of all pages that are cached or being sent. */
  #bytes = 0
  #isCompressing = false

  /**
   * @param make returns the data of the page after a cursor, which is empty for the first page
   * @param maxBytes bytes of all pages that are cached or being sent
   */
  constructor(make: (after: string) => unknown, maxBytes: number = LIST_CACHE_MAX_BYTES) {
    this.#make = make
    this.#maxBytes = maxBytes
  }

  /** Bytes of all pages that are cached or being sent. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * The current page, or the cached one when pages are rendered too often.
   * @throws RelayError `rate_limited` when the page is neither cached nor may be built, and the errors of `make`
   */
  take(after: string): CachedList {
    const known = this.#pages.get(after)
    const page = this.#current(after, known) ?? known
    if (page === undefined)
      throw new RelayError('rate_limited', 'clients request pages of this list too often', {
        'Retry-After': '1',
      })
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

  #current(after: string, known: CachedPage | undefined): CachedPage | undefined {
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
    const page: CachedPage = { body, tag, compressed: undefined, bytes: body.length, uses: 0, isListed: true }
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

  #unlist(after: string, page: CachedPage): void {
    this.#pages.delete(after)
    page.isListed = false
    if (page.uses === 0) this.#bytes -= page.bytes
  }

  #release(page: CachedPage): void {
    page.uses -= 1
    if (page.uses === 0 && !page.isListed) this.#bytes -= page.bytes
  }

  async #gzip(page: CachedPage): Promise<Buffer | undefined> {
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

  #account(page: CachedPage, compressed: Buffer): Buffer | undefined {
    if (compressed.length >= page.body.length) return undefined
    // The caller has not released the page yet, so that its bytes are still counted.
    page.bytes += compressed.length
    this.#bytes += compressed.length
    return compressed
  }
}
