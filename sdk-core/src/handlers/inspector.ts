// A request inspector: a handler around another one, which keeps what came and can do it again.

import { SvcError } from '../errors.ts'
import type { FetchHandler, FetchInfo } from '../exchange/fetch-handler.ts'
import { buildRequest, withBody } from '../exchange/fetch-request.ts'
import { BodyPreview } from './body-preview.ts'
import { completeBody, type Entry } from './inspector-entry.ts'

/** InspectOptions are the options of `inspect`. */
export interface InspectOptions {
  /**
   * Entries that are kept; the oldest goes first.
   * @default 100
   */
  limit?: number | undefined
  /**
   * Bytes of each body that are kept.
   * @default 64 KiB
   */
  maxBodyBytes?: number | undefined
}

/** With the 64 KiB that a head may have, at most 12.5 MiB. */
const LIMIT = 100
const MAX_BODY_BYTES: number = 64 * 1024

/** `publish({ …, fetch: inspect(handler).fetch })` */
export function inspect(handler: FetchHandler, options: InspectOptions = {}): Inspector {
  return new Inspector(handler, options)
}

/** Sends a `change` event when an entry was added, answered or dropped. */
export class Inspector extends EventTarget {
  readonly #handler: FetchHandler
  readonly #limit: number
  readonly #maxBodyBytes: number
  #entries: readonly Entry[] = []
  /** What each request was told beside it; a replay is told the same. */
  readonly #infos = new WeakMap<Entry, FetchInfo>()
  #nextId = 1

  constructor(handler: FetchHandler, { limit = LIMIT, maxBodyBytes = MAX_BODY_BYTES }: InspectOptions) {
    super()
    for (const [name, value, min] of [
      ['limit', limit, 1],
      ['maxBodyBytes', maxBodyBytes, 0],
    ] as const)
      if (!Number.isSafeInteger(value) || value < min)
        throw new SvcError('invalid_option', `${name} has to be a whole number, at least ${min}`)
    this.#handler = handler
    this.#limit = limit
    this.#maxBodyBytes = maxBodyBytes
  }

  /** The newest first. Each change of an entry puts a new object in its place. */
  get entries(): readonly Entry[] {
    return this.#entries
  }

  /**
   * Hands a request to the handler, and waits with the answer until as much of the request's body as is kept has
   * come, because the server reads no further once it answers.
   */
  readonly fetch: FetchHandler = (request, info) => this.#record(request, info, undefined)

  /**
   * Hands the request to the handler again, as a new entry.
   * @throws SvcError when the body was not kept whole
   */
  async replay(entry: Entry): Promise<Response> {
    const info = this.#infos.get(entry)
    if (!info) throw new SvcError('invalid_option', 'not an entry of this inspector')
    const body = completeBody(entry)
    const headers = new Headers(entry.headers as [string, string][])
    const stream = body.length > 0 ? new Blob([body]).stream() : undefined
    return this.#record(buildRequest(entry.url, { method: entry.method, headers }, stream), info, entry.id)
  }

  clear(): void {
    this.#change([])
  }

  async #record(request: Request, info: FetchInfo, replayOf: number | undefined): Promise<Response> {
    const preview = request.body ? new BodyPreview(request.body, this.#maxBodyBytes) : undefined
    const start = performance.now()
    const id = this.#nextId++
    const { method, url, headers } = request
    const made = { id, at: Date.now(), method, url, headers: [...headers], replayOf }
    const put = (status?: number): void => {
      const ms = status === undefined ? undefined : performance.now() - start
      this.#put(
        { ...made, body: preview?.body ?? new Uint8Array(0), bodyBytes: preview?.bytes ?? 0, status, ms },
        info,
      )
    }
    put()
    try {
      const response = await this.#handler(
        preview ? withBody(request, {}, preview.stream, headers) : request,
        info,
      )
      await preview?.seen
      put(response.status)
      return response
    } catch (error) {
      put(500)
      throw error
    }
  }

  /** Adds an entry, or replaces the one with its id. One that was dropped does not come back. */
  #put(entry: Entry, info: FetchInfo): void {
    this.#infos.set(entry, info)
    if (entry.status === undefined) this.#change([entry, ...this.#entries].slice(0, this.#limit))
    else this.#change(this.#entries.map((known) => (known.id === entry.id ? entry : known)))
  }

  #change(entries: readonly Entry[]): void {
    this.#entries = entries
    this.dispatchEvent(new Event('change'))
  }
}
