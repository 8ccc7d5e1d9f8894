// The direct path through a handler that forwards requests to another server: it makes no Request and no Response.

import type { Field } from '../semantics/fields.ts'
import type { FetchHandler, KnownVisitor } from './fetch-handler.ts'
import type { BodyBatch } from './response-body.ts'

/** The key of a handler's direct path. */
export const DIRECT: unique symbol = Symbol('direct path of a handler')

/** A DirectlyHandled is a handler that may answer requests without a Request. */
export interface DirectlyHandled extends FetchHandler {
  [DIRECT]?: DirectHandler | undefined
}

/**
 * A DirectHandler decides about a request, and does not start it.
 * @returns undefined when this request needs a Request
 */
export type DirectHandler = (request: DirectRequest) => DirectExchange | undefined

/** A DirectRequest is a checked request of any HTTP version, except an upgrade. */
export interface DirectRequest extends Readonly<KnownVisitor> {
  readonly method: string
  /** The requested URL, with the authority that the visitor named. */
  readonly url: URL
  /** The target as the visitor sent it: origin-form or absolute-form. Undefined for a request that was made from a URL. */
  readonly target?: string | undefined
  /** HTTP/1.0 has no interim responses. */
  readonly version?: '1.1' | '1.0'
  /** The fields as the visitor sent them, including the hop-by-hop ones. */
  readonly fields: readonly Field[]
  /** Undefined when the request has no content. */
  readonly body: DirectBody | undefined
  /** Sends an interim response (RFC 9110 §15.2) other than 100, which a read of the body sends. Undefined when none can be sent. */
  readonly inform?: Inform
  /** Called when the request goes to the target. */
  readonly onSent?: (() => void) | undefined
}

/** An Inform sends an interim response, before the final one. */
export type Inform = (status: number, statusText: string, fields: Field[]) => void

/** A DirectBody is the content of a request, pulled by reads. */
export interface DirectBody {
  /**
   * Resolves with the next bytes, or with undefined at the end. Only one read may be pending.
   * @param stallMs the longest wait, in milliseconds, when the content is a two-way stream
   * @throws the error in the content, or that of the connection
   */
  next(stallMs?: number): Promise<Uint8Array | undefined>
  /** The trailer fields, once the end was read. */
  readonly trailers?: readonly Field[] | undefined
}

/** A DirectExchange is one request on the direct path. */
export interface DirectExchange {
  /**
   * Answers the request. The caller calls it once.
   * @throws the error with which it failed: the visitor gets 500
   */
  respond(): Promise<DirectResponse>
  /** Ends the exchange, before or during the response, because the visitor's connection broke. */
  cancel(reason: unknown): void
}

/** A DirectResponse is the head of a response, and its content as it arrives. */
export interface DirectResponse {
  /** The status, 200 or above. */
  readonly status: number
  /** The reason phrase, empty for the standard one. */
  readonly statusText: string
  /** The end-to-end fields. Content-Length is among them only if it equals `length`. */
  readonly fields: Field[]
  /** The length of the content, or of what GET would give in answer to HEAD. Undefined when unknown. */
  readonly length: number | undefined
  /** Returns the content that has arrived, perhaps none. */
  ready(): BodyBatch
  /**
   * Resolves with the next content, once there are bytes or the end.
   * @throws the error with which the content broke off
   */
  next(): Promise<BodyBatch>
  /** The trailer fields, once the end was read. A visitor over HTTP/1.1 does not get them. */
  readonly trailers?: readonly Field[] | undefined
  /** Tells the sender that the rest will not be read. */
  cancel(reason: unknown): void
}
