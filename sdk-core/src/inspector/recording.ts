// One entry while it is recorded.

import type { KnownVisitor } from '../exchange/fetch-handler.ts'
import type { Field } from '../semantics/fields.ts'
import {
  type Answer,
  type Content,
  type EntryKind,
  type FormPart,
  fieldOf,
  type HttpVersion,
  type StreamMessage,
  type Times,
  typeOf,
} from './entry.ts'
import { type FormParts, formPartsOf } from './form-parts.ts'
import { KeptBytes } from './kept-bytes.ts'
import { ENTRY_OVERHEAD_BYTES, ITEM_OVERHEAD_BYTES, MESSAGE_BYTES, MESSAGES_MAX } from './limits.ts'
import type { StoredEntry } from './store.ts'
import { GrpcMessages, ServerEvents, type SplitMessage, type Splitter } from './stream-messages.ts'

/** What is known of a request when it comes. */
export interface Asked {
  /** The run of the inspector, and the number in it: together they are the id. */
  run: string
  number: number
  tunnel: string | undefined
  method: string
  url: string
  /** The version of the request's syntax. */
  version?: '1.0' | '1.1' | undefined
  headers: readonly Field[]
  replayOf: string | undefined
  /** What the site knows of the visitor: a replay says the same. */
  visitor: KnownVisitor
}

/** RecordingOwner is told of each change, and of the bytes of memory that it took or freed. */
export interface RecordingOwner {
  readonly maxBodyBytes: number
  changed(recording: Recording, bytes: number): void
}

const GRPC = /^application\/grpc(?:\+|;|$)/
const NO_FIELDS: readonly Field[] = []
const NO_MESSAGES: readonly StreamMessage[] = []

/** A request's or response's content while it passes. */
class RecordedContent implements Content {
  readonly headers: readonly Field[]
  trailers: readonly Field[] = NO_FIELDS
  #kept: KeptBytes
  #form: FormParts | undefined
  splitter: Splitter | undefined

  constructor(headers: readonly Field[], max: number, form: FormParts | undefined, splitter?: Splitter) {
    this.headers = headers
    this.#kept = new KeptBytes(max)
    this.#form = form
    this.splitter = splitter
  }

  get body(): Uint8Array<ArrayBuffer> {
    return this.#kept.beginning
  }

  get bodyBytes(): number {
    return this.#kept.bytes
  }

  get parts(): readonly FormPart[] | undefined {
    return this.#form?.parts
  }

  /** Frees what was kept, and keeps no more. */
  drop(): void {
    this.#kept = new KeptBytes(0)
    this.#form = undefined
    this.splitter = undefined
  }

  add(bytes: Uint8Array): number {
    this.splitter?.add(bytes)
    return this.#kept.add(bytes) + (this.#form?.add(bytes) ?? 0)
  }
}

class RecordedAnswer extends RecordedContent implements Answer {
  readonly status: number
  readonly statusText: string

  constructor(
    { status, statusText, headers }: Pick<Answer, 'status' | 'statusText' | 'headers'>,
    max: number,
    splitter: Splitter | undefined,
  ) {
    super(headers, max, undefined, splitter)
    this.status = status
    this.statusText = statusText
  }
}

export class Recording implements StoredEntry {
  readonly number: number
  readonly at: number = Date.now()
  readonly tunnel: string | undefined
  readonly method: string
  readonly url: string
  readonly version: HttpVersion | undefined
  readonly address: string | undefined
  readonly visitor: KnownVisitor
  readonly replayOf: string | undefined
  readonly isImported = false
  readonly request: RecordedContent
  kind: EntryKind = 'http'
  response: RecordedAnswer | undefined
  readonly times: { -readonly [Point in keyof Times]: Times[Point] } = {
    sent: undefined,
    head: undefined,
    end: undefined,
  }
  error: string | undefined
  droppedMessages = 0
  /** The bytes of memory that it takes. */
  bytes: number
  /** The revision of its last change, which the owner sets. */
  revision = 0
  share: StoredEntry['share']
  older: StoredEntry['older']
  newer: StoredEntry['newer']
  readonly #run: string
  #isDropped = false
  readonly #owner: RecordingOwner
  #messages: StreamMessage[] | undefined
  readonly #start: number = performance.now()

  constructor(asked: Asked, owner: RecordingOwner) {
    const { run, number, tunnel, method, url, version, headers, replayOf, visitor } = asked
    this.#run = run
    this.number = number
    this.tunnel = tunnel
    this.method = method
    this.url = url
    this.version = visitor.httpVersion ?? version ?? '1.1'
    this.visitor = visitor
    this.address = visitor.remote?.address
    this.replayOf = replayOf
    this.#owner = owner
    const isCall = method === 'POST' && GRPC.test(fieldOf({ headers }, 'content-type') ?? '')
    if (isCall) this.kind = 'grpc'
    const form = formPartsOf(method === 'GET' ? undefined : fieldOf({ headers }, 'content-type'))
    const calls = isCall ? new GrpcMessages((message) => this.#split('in', message)) : undefined
    this.request = new RecordedContent(headers, owner.maxBodyBytes, form, calls)
    this.bytes = ENTRY_OVERHEAD_BYTES + url.length + bytesOf(headers)
  }

  get id(): string {
    return `${this.#run}-${this.number}`
  }

  get messages(): readonly StreamMessage[] {
    return this.#messages ?? NO_MESSAGES
  }

  /** Notes that the request goes to the target. */
  sent(): void {
    this.times.sent ??= this.#now()
  }

  requested(bytes: Uint8Array): void {
    this.#owner.changed(this, this.request.add(bytes))
  }

  requestTrailers(trailers: readonly Field[]): void {
    this.request.trailers = trailers
  }

  answered(head: Pick<Answer, 'status' | 'statusText' | 'headers'>): void {
    this.times.head = this.#now()
    const splitter = this.#splitterOf(head)
    this.response = new RecordedAnswer(head, this.#owner.maxBodyBytes, splitter)
    if (this.#isDropped) this.response.drop()
    this.#owner.changed(this, bytesOf(head.headers))
  }

  responded(bytes: Uint8Array): void {
    this.#owner.changed(this, this.response?.add(bytes) ?? 0)
  }

  /** Notes the end of the response. */
  ended(trailers: readonly Field[] = NO_FIELDS): void {
    if (this.times.end !== undefined) return
    this.times.end = this.#now()
    if (this.response) this.response.trailers = trailers
    this.#owner.changed(this, bytesOf(trailers))
  }

  /** Keeps no more: many exchanges that go on would take more memory than all entries may. */
  dropped(): void {
    if (this.times.end !== undefined) return
    this.#isDropped = true
    this.request.drop()
    this.response?.drop()
    this.#messages = undefined
  }

  failed(reason: unknown): void {
    if (this.times.end !== undefined) return
    const { message = String(reason ?? 'the visitor left') } = (reason ?? {}) as Partial<Error>
    this.error = message
    this.ended()
  }

  /** Notes a message of a WebSocket. */
  message(
    direction: StreamMessage['direction'],
    kind: 'text' | 'binary' | 'close',
    content: string | Uint8Array,
    size: number = content.length,
  ): void {
    const text = typeof content === 'string' ? content.slice(0, MESSAGE_BYTES) : undefined
    const all = text === undefined ? (content as Uint8Array) : new TextEncoder().encode(text)
    const kept = new KeptBytes(MESSAGE_BYTES)
    kept.add(all)
    this.#keep({ direction, kind, at: this.#now(), size, data: kept.beginning })
  }

  #split(direction: StreamMessage['direction'], message: SplitMessage): void {
    this.#keep({ direction, at: this.#now(), ...message })
  }

  #keep(message: StreamMessage): void {
    if (this.#isDropped) return
    let bytes = ITEM_OVERHEAD_BYTES + message.data.length
    this.#messages ??= []
    this.#messages.push(message)
    if (this.#messages.length > MESSAGES_MAX) {
      bytes -= ITEM_OVERHEAD_BYTES + this.#messages.shift()!.data.length
      this.droppedMessages += 1
    }
    this.#owner.changed(this, bytes)
  }

  #splitterOf(head: Pick<Answer, 'headers'>): Splitter | undefined {
    if (this.kind === 'grpc') return new GrpcMessages((message) => this.#split('out', message))
    // The events of compressed content are not seen.
    if (typeOf(head) !== 'text/event-stream' || fieldOf(head, 'content-encoding')) return undefined
    this.kind = 'events'
    return new ServerEvents((message) => this.#split('out', message))
  }

  #now(): number {
    return performance.now() - this.#start
  }
}

function bytesOf(fields: readonly Field[]): number {
  let bytes = 0
  for (const [name, value] of fields) bytes += ITEM_OVERHEAD_BYTES + 2 * name.length + value.length
  return bytes
}
