// The inspector's record of one request: what its other parts read.

import type { Field } from '../semantics/fields.ts'

/** HttpVersion is the version of HTTP that the visitor speaks. */
export type HttpVersion = '1.0' | '1.1' | '2'

/** EntryKind is what an exchange carries: one answer, or messages. */
export type EntryKind = 'http' | 'websocket' | 'events' | 'grpc'

/** An Entry is one request that an inspector recorded, with its response. It changes while its exchange runs. */
export interface Entry {
  /** The id, which no other entry has, in this run and others. */
  readonly id: string
  /** The time of the request, in milliseconds since the epoch. */
  readonly at: number
  /** The name of the tunnel. Undefined where there is one without a name. */
  readonly tunnel: string | undefined
  readonly kind: EntryKind
  readonly method: string
  readonly url: string
  /** Undefined when unknown. */
  readonly version: HttpVersion | undefined
  /** Where the visitor's connection comes from, as the relay says. Undefined when unknown. */
  readonly address: string | undefined
  readonly request: Content
  /** Undefined until there is one; 500 when the handler failed. */
  readonly response: Answer | undefined
  readonly times: Times
  /** Why the exchange broke off. */
  readonly error: string | undefined
  /** The messages of a WebSocket, of server-sent events or of gRPC: the last ones. */
  readonly messages: readonly StreamMessage[]
  /** The number of messages that are no longer kept. */
  readonly droppedMessages: number
  /** The id of the entry that this one repeats. */
  readonly replayOf: string | undefined
  /** True for an entry that came from a file. */
  readonly isImported: boolean
}

/** A Content is the fields and the content of a request or a response. */
export interface Content {
  readonly headers: readonly Field[]
  readonly trailers: readonly Field[]
  /** The first bytes of the content, as they were sent: perhaps compressed. */
  readonly body: Uint8Array<ArrayBuffer>
  /** The length of the content in bytes: more than `body` has if it was too long to keep. */
  readonly bodyBytes: number
  /** The parts of a multipart form, also of one that was too long to keep. */
  readonly parts: readonly FormPart[] | undefined
}

/** An Answer is a response. */
export interface Answer extends Content {
  readonly status: number
  readonly statusText: string
}

/** Times are the points of an exchange, in milliseconds since the request. Each is undefined until it is reached. */
export interface Times {
  /** The request went to the target. Undefined for a handler in this process. */
  readonly sent: number | undefined
  /** The head of the response came. */
  readonly head: number | undefined
  /** The response ended, or broke off. */
  readonly end: number | undefined
}

/** A FormPart is one part of a multipart form (RFC 7578). */
export interface FormPart {
  readonly name: string
  readonly fileName: string | undefined
  readonly type: string | undefined
  /** The length of its content in bytes. */
  readonly size: number
  /** The beginning of its content. */
  readonly beginning: Uint8Array<ArrayBuffer>
}

/** A StreamMessage is one message of a WebSocket, one event of a stream of events, or one message of gRPC. */
export interface StreamMessage {
  /** `in` comes from the visitor. */
  readonly direction: 'in' | 'out'
  readonly kind: 'text' | 'binary' | 'event' | 'grpc' | 'close'
  /** Milliseconds since the request. */
  readonly at: number
  /** The length in bytes. */
  readonly size: number
  /** The beginning. */
  readonly data: Uint8Array<ArrayBuffer>
  /** The type of an event. */
  readonly event?: string | undefined
  /** The id of an event. */
  readonly eventId?: string | undefined
  /** Whether a message of gRPC is compressed. */
  readonly isCompressed?: boolean | undefined
}

/** Returns the first value of a field, or undefined. */
export function fieldOf({ headers }: Pick<Content, 'headers'>, name: string): string | undefined {
  return headers.find((field) => field[0].toLowerCase() === name)?.[1]
}

/** Returns the media type of a content in lower case, without parameters; empty when there is none. */
export function typeOf(content: Pick<Content, 'headers'>): string {
  return (fieldOf(content, 'content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
}
