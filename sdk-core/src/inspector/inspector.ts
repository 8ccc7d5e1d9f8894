// A request inspector: it wraps handlers, records requests and responses within bounded memory, and can repeat them.

import { SvcError } from '../errors.ts'
import {
  DIRECT,
  type DirectExchange,
  type DirectHandler,
  type DirectlyHandled,
  type DirectRequest,
} from '../exchange/direct.ts'
import { losses } from '../exchange/disconnect-signal.ts'
import type { FetchHandler, FetchInfo } from '../exchange/fetch-handler.ts'
import { makeHeaders, withBody } from '../exchange/fetch-request.ts'
import { sentListeners } from '../exchange/sent-listeners.ts'
import { isResponse } from '../platform-objects.ts'
import type { WebhookVerdict } from '../webhooks/verdict.ts'
import type { WebhookVerifier } from '../webhooks/verifier.ts'
import { BodyPreview } from './body-preview.ts'
import type { Entry } from './entry.ts'
import { BODY_BYTES, ENTRIES, TOTAL_BYTES } from './limits.ts'
import type { Descriptors } from './protobuf/index.ts'
import { RecordedBody, RecordedExchange } from './recorded-exchange.ts'
import { recordResponse } from './recorded-response.ts'
import { recordingUpgrade } from './recorded-socket.ts'
import { type Asked, Recording } from './recording.ts'
import {
  directRequestOf,
  type Edit,
  readAnswer,
  readResponse,
  replayInfo,
  requestOf,
  webRequestOf,
} from './replay.ts'
import { type Dropped, EntryStore, type StoredEntry } from './store.ts'

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
  /**
   * The number of bytes of memory that all entries may take.
   * @default 16 MiB
   */
  maxBytes?: number | undefined
}

/** Returns a handler that records requests: `publish({ fetch: inspect(handler).fetch })`. */
export function inspect(
  handler: FetchHandler,
  options: InspectOptions = {},
): Inspector & { fetch: FetchHandler } {
  const inspector = new Inspector(options)
  return Object.assign(inspector, { fetch: inspector.wrap(handler) })
}

/** Wrapped is a handler that the inspector is around. */
interface Wrapped {
  handler: FetchHandler
  direct: DirectHandler | undefined
  /** The URL of the site with its canonical hostname, as of the last request. */
  canonicalUrl: string | undefined
  /** Checks the signatures of webhooks. */
  verifier: Pick<WebhookVerifier, 'verify'> | undefined
  /** The types of its protobuf. */
  descriptors?: Descriptors | undefined
}

/** Wrapping says what an inspector is around. */
interface Wrapping {
  /** The name of the tunnel. */
  tunnel?: string | undefined
  /** Checks the signatures of webhooks. */
  verifier?: Pick<WebhookVerifier, 'verify'> | undefined
  /** The types of its protobuf. */
  descriptors?: Descriptors | undefined
}

/**
 * An Inspector records requests. It dispatches `change` when an entry was added, changed or dropped: once for all changes of a
 * turn of the event loop.
 */
export class Inspector extends EventTarget {
  readonly maxBodyBytes: number
  readonly maxBytes: number
  /** The run of this inspector, with which the ids of its entries begin. */
  readonly run: string = newRun()
  readonly #store: EntryStore
  readonly #handlers = new Map<string | undefined, Wrapped>()
  #lastNumber = 0
  #isPaused = false
  #skipped = 0
  #isFollowed = false
  #isTelling = false
  #descriptors: Descriptors | undefined

  constructor(options: InspectOptions = {}) {
    super()
    const { limit = ENTRIES, maxBodyBytes = BODY_BYTES, maxBytes = TOTAL_BYTES } = options
    for (const [name, value, min] of [
      ['limit', limit, 1],
      ['maxBodyBytes', maxBodyBytes, 0],
      ['maxBytes', maxBytes, 0],
    ] as const)
      if (!Number.isSafeInteger(value) || value < min)
        throw new SvcError('invalid_option', `${name} has to be a whole number, at least ${min}`)
    this.maxBodyBytes = maxBodyBytes
    this.maxBytes = maxBytes
    this.#store = new EntryStore(limit, maxBytes, () => this.#tell())
  }

  /** The entries, newest first. */
  get entries(): readonly Entry[] {
    return this.#store.all().reverse()
  }

  /** The bytes of memory that the entries take. */
  get bytes(): number {
    return this.#store.bytes
  }

  /** What was dropped for want of room, since the last `clear`. */
  get dropped(): Readonly<Dropped> {
    return this.#store.dropped
  }

  /** Whether requests pass without being recorded. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  /** The number of requests that were not recorded because of a pause, since the last `clear`. */
  get skipped(): number {
    return this.#skipped
  }

  /** The revision of the last change. */
  get revision(): number {
    return this.#store.revision
  }

  /** The names of the tunnels whose handlers are wrapped. */
  get tunnels(): readonly (string | undefined)[] {
    return [...this.#handlers.keys()]
  }

  /** The number of types of protobuf messages that are known. */
  get messageTypes(): number {
    const all = [this.#descriptors, ...[...this.#handlers.values()].map(({ descriptors }) => descriptors)]
    return all.reduce((total, one) => total + (one?.names.length ?? 0), 0)
  }

  /**
   * Decodes protobuf by the types of a FileDescriptorSet, which `protoc --include_imports -o FILE` writes. The next one replaces it.
   * @throws SvcError `invalid_option` when it is none
   */
  async useDescriptors(set: Uint8Array): Promise<void> {
    const { Descriptors } = await import('./protobuf/index.ts')
    this.#descriptors = Descriptors.read(set)
    this.#tell()
  }

  /** Returns the descriptors for an entry, in the order in which they are asked. */
  descriptorsOf({ tunnel }: Pick<Entry, 'tunnel'>): readonly Descriptors[] {
    return [this.#descriptors, this.#handlers.get(tunnel)?.descriptors].filter((one) => one !== undefined)
  }

  /** @returns the entry with this id; undefined when it was dropped, or never was */
  get(id: string): Entry | undefined {
    return this.#stored(id)
  }

  /** @returns what changed after a revision, in the order of the changes; undefined when that is no longer known */
  since(revision: number): { changed: Entry[]; removed: string[] } | undefined {
    const since = this.#store.since(revision)
    return since && { changed: since.changed, removed: since.removed.map((number) => this.#idOf(number)) }
  }

  /** Drops all entries. */
  clear(): void {
    this.#skipped = 0
    this.#store.clear()
  }

  /** Lets requests pass without recording them, or records them again. */
  pause(isPaused = true): void {
    this.#isPaused = isPaused
    this.#tell()
  }

  /**
   * Returns a handler that records the requests of a tunnel. On a direct path it reads no more than the handler does. Otherwise it
   * delays the response until the part of the request's body that is kept has arrived, because the server stops reading once it
   * answers.
   */
  wrap(handler: DirectlyHandled, { tunnel, verifier, descriptors }: Wrapping = {}): DirectlyHandled {
    const direct = handler[DIRECT]
    const wrapped: Wrapped = { handler, direct, canonicalUrl: undefined, verifier, descriptors }
    this.#handlers.set(tunnel, wrapped)
    const recorded: DirectlyHandled = (request, info) => {
      wrapped.canonicalUrl = info.canonicalUrl
      if (this.#skips()) return handler(request, info, info)
      const { method, url, headers } = request
      const { remote, user, clientCertificate, httpVersion } = info
      const visitor = { remote, user, clientCertificate, httpVersion }
      const asked = { tunnel, method, url, headers: [...headers], replayOf: undefined, visitor }
      return this.#answer(wrapped, request, info, this.#record(asked))
    }
    if (direct)
      recorded[DIRECT] = (request) => {
        if (this.#isPaused) return this.#passed(direct(request))
        return this.#exchange(direct, request, tunnel, undefined)?.exchange
      }
    return recorded
  }

  /**
   * Sends a request to the handler again, as a new entry, and resolves with that when it has ended.
   * @param edit what to change of it
   * @param begun called with the new entry
   * @throws SvcError `invalid_option` when it cannot be repeated, such as a WebSocket, or a request of which a part was kept
   */
  async replay(id: string, edit: Edit = {}, begun: (entry: Entry) => void = () => {}): Promise<Entry> {
    const entry = this.#stored(id)
    if (!entry) throw new SvcError('invalid_option', `there is no entry ${id}`)
    const { direct, handler, canonicalUrl } = this.#handlerOf(entry)
    const request = requestOf(entry, edit)
    const visitor = entry instanceof Recording ? entry.visitor : {}
    const { remote, user, clientCertificate } = visitor
    const known = { remote, user, clientCertificate }
    if (direct) {
      const found = this.#exchange(direct, { ...directRequestOf(request), ...known }, entry.tunnel, id)
      if (found) {
        begun(found.recording)
        await readAnswer(found.exchange)
        return found.recording
      }
    }
    const { method, url, fields: headers } = request
    const asked = { tunnel: entry.tunnel, method, url, headers, replayOf: id, visitor: known }
    const recording = this.#record(asked)
    begun(recording)
    const info = { ...replayInfo(canonicalUrl ?? new URL(url).origin), ...known }
    const wrapped = { handler, direct, canonicalUrl, verifier: undefined }
    await readResponse(this.#answer(wrapped, webRequestOf(request), info, recording))
    return recording
  }

  /** Adds an entry that came from elsewhere. */
  add(entry: Omit<Entry, 'id'>, bytes: number): Entry {
    const number = this.#newNumber()
    const links = { share: undefined, older: undefined, newer: undefined }
    const added: StoredEntry = { ...entry, ...links, id: this.#idOf(number), number, bytes, revision: 0 }
    this.#store.add(added)
    return added
  }

  override addEventListener(...listening: Parameters<EventTarget['addEventListener']>): void {
    this.#isFollowed = true
    super.addEventListener(...listening)
  }

  async #answer(
    { handler }: Wrapped,
    request: Request,
    info: FetchInfo,
    recording: Recording,
  ): Promise<Response> {
    const isUpgrade = request.headers.get('upgrade')?.toLowerCase() === 'websocket'
    const given = isUpgrade ? recordingUpgrade(info, recording) : info
    sentListeners.set(given, () => recording.sent())
    const preview = request.body
      ? new BodyPreview(request.body, this.maxBodyBytes, (bytes) => recording.requested(bytes))
      : undefined
    try {
      const response = await handler(preview ? previewed(request, preview) : request, given, given)
      await preview?.seen
      if (isResponse(response)) recordResponse(response, recording)
      return response
    } catch (error) {
      recording.answered({ status: 500, statusText: '', headers: [] })
      recording.failed(error)
      throw error
    }
  }

  #exchange(
    direct: DirectHandler,
    request: DirectRequest,
    tunnel: string | undefined,
    replayOf: string | undefined,
  ): { exchange: DirectExchange; recording: Recording } | undefined {
    const body = request.body && new RecordedBody(request.body)
    let recording: Recording | undefined
    const onSent = (): void => recording?.sent()
    const exchange = direct({ ...request, body, onSent })
    if (!exchange) return undefined
    const { method, url, fields: headers, version, remote, user, clientCertificate, httpVersion } = request
    const visitor = { remote, user, clientCertificate, httpVersion }
    recording = this.#record({ tunnel, method, url: url.href, version, headers, replayOf, visitor })
    if (body) body.recording = recording
    return { exchange: new RecordedExchange(exchange, recording), recording }
  }

  #record(asked: Omit<Asked, 'run' | 'number'>): Recording {
    const recording = new Recording({ run: this.run, number: this.#newNumber(), ...asked }, this)
    this.#store.add(recording)
    return recording
  }

  /** Counts the bytes by which a recording grew. */
  changed(recording: Recording, bytes: number): void {
    this.#store.changed(recording, bytes)
  }

  #skips(): boolean {
    if (this.#isPaused) this.#skipped += 1
    return this.#isPaused
  }

  #passed(exchange: DirectExchange | undefined): DirectExchange | undefined {
    if (exchange) this.#skipped += 1
    return exchange
  }

  #newNumber(): number {
    this.#lastNumber += 1
    return this.#lastNumber
  }

  #idOf(number: number): string {
    return `${this.run}-${number}`
  }

  #stored(id: string): StoredEntry | undefined {
    const entry = this.#store.get(Number(id.slice(this.run.length + 1)))
    return entry?.id === id ? entry : undefined
  }

  /** Resolves with what is found out about the signature of a webhook; with undefined for others, and where none is checked. */
  async webhookOf({
    tunnel,
    isImported,
    at,
    method,
    url,
    request,
  }: Entry): Promise<WebhookVerdict | undefined> {
    const { verifier } = this.#handlers.get(tunnel) ?? {}
    if (!verifier || isImported || request.body.length < request.bodyBytes) return undefined
    const headers = makeHeaders(request.headers.map(([name, value]) => [name.toLowerCase(), value]))
    return await verifier.verify({ method, url, headers, body: request.body }, at)
  }

  #handlerOf({ tunnel, isImported }: Entry): Wrapped {
    const [only, other] = this.#handlers.values()
    const found = this.#handlers.get(tunnel) ?? (isImported && !other ? only : undefined)
    if (found) return found
    throw new SvcError('invalid_option', 'the tunnel of this entry does not run')
  }

  #tell(): void {
    if (!this.#isFollowed || this.#isTelling) return
    this.#isTelling = true
    queueMicrotask(() => {
      this.#isTelling = false
      this.dispatchEvent(new Event('change'))
    })
  }
}

/** Returns eight random characters. */
function newRun(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => (byte % 36).toString(36)).join('')
}

/** Makes the request whose body the preview has read before the handler. */
function previewed(request: Request, { stream }: BodyPreview): Request {
  const made = withBody(request, {}, stream, request.headers)
  const loss = losses.get(request)
  if (loss) losses.set(made, loss)
  return made
}
