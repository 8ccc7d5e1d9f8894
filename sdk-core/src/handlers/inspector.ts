// A request inspector: a handler around another one, which records requests and can repeat them.

import { SvcError } from '../errors.ts'
import type { FetchHandler, FetchInfo } from '../exchange/fetch-handler.ts'
import { buildRequest, withBody } from '../exchange/fetch-request.ts'
import { BodyPreview } from './body-preview.ts'
import { completeBody, type Entry } from './inspector-entry.ts'

/** InspectOptions are the options of `inspect`. */
export interface InspectOptions {
  /**
   * The number of entries to keep. The oldest is dropped first.
   * @default 100
   */
  limit?: number | undefined
  /**
   * The number of bytes of each body to keep.
   * @default 64 KiB
   */
  maxBodyBytes?: number | undefined
}

/** The default number of entries: with heads of 64 KiB they take at most 12.5 MiB. */
const LIMIT = 100
const MAX_BODY_BYTES: number = 64 * 1024

/** Returns a handler that records requests: `publish({ fetch: inspect(handler).fetch })`. */
export function inspect(handler: FetchHandler, options: InspectOptions = {}): Inspector {
  return new Inspector(handler, options)
}

/** An Inspector records requests. It dispatches `change` when an entry was added, answered or dropped. */
export class Inspector extends EventTarget {
  readonly #handler: FetchHandler
  readonly #limit: number
  readonly #maxBodyBytes: number
  #entries: readonly Entry[] = []
  /** The FetchInfo of each entry, for replays. */
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

  /** The entries, newest first. When an entry changes, a new object replaces it. */
  get entries(): readonly Entry[] {
    return this.#entries
  }

  /**
   * Calls the handler with a request, and delays the response until the part of the request's body that is kept has arrived,
   * because the server stops reading once it answers.
   */
  readonly fetch: FetchHandler = (request, info) => this.#record(request, info, undefined)

  /**
   * Calls the handler with the request again, as a new entry.
   * @throws SvcError when only a part of the body was kept
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

  /** Adds an entry, or replaces the one with its id. A dropped entry does not come back. */
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
