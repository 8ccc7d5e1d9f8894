// The direct way through a handler that passes requests on to another server: no Request and no Response is made.

import type { Field } from '../semantics/fields.ts'
import type { FetchHandler } from './fetch-handler.ts'
import type { BodyBatch } from './response-body.ts'

/** The key under which a handler has its direct way. */
export const DIRECT: unique symbol = Symbol('direct way of a handler')

/** A DirectlyHandled is a handler that may answer requests without a Request. */
export interface DirectlyHandled extends FetchHandler {
  [DIRECT]?: DirectHandler | undefined
}

/**
 * A DirectHandler looks at a request and starts nothing yet.
 * @returns undefined when this request has to be answered with a Request
 */
export type DirectHandler = (request: DirectRequest) => DirectExchange | undefined

/** A DirectRequest is a checked request of any version of HTTP, apart from upgrades. */
export interface DirectRequest {
  readonly method: string
  /** The requested URL, with the authority that the visitor named. */
  readonly url: URL
  /** The target as the visitor sent it: origin-form or absolute-form. Undefined for a request that is made of its URL. */
  readonly target?: string | undefined
  /** HTTP/1.0 has no interim responses. */
  readonly version?: '1.1' | '1.0'
  /** The fields as the visitor sent them, with those about its connection. */
  readonly fields: readonly Field[]
  /** Undefined when the request has no content. */
  readonly body: DirectBody | undefined
  /** Sends an interim response (RFC 9110 §15.2) other than 100, which a read of the body sends. Undefined where none can be sent. */
  readonly inform?: Inform
}

/** An Inform sends an interim response, before the final one. */
export type Inform = (status: number, statusText: string, fields: Field[]) => void

/** A DirectBody is the content of a request, which comes as it is read. */
export interface DirectBody {
  /**
   * Resolves with the next bytes, or with undefined at the end. Only one read may be pending.
   * @param stallMs the longest wait for them, in milliseconds, where the content is a conversation
   * @throws the error in the content, or that of the connection
   */
  next(stallMs?: number): Promise<Uint8Array | undefined>
  /** The trailer fields, once the end was read. */
  readonly trailers?: readonly Field[] | undefined
}

/** A DirectExchange is one request on its direct way. */
export interface DirectExchange {
  /**
   * Answers the request. The caller calls it once.
   * @throws the error with which it failed: the visitor gets 500
   */
  respond(): Promise<DirectResponse>
  /** Ends the exchange, before the response or within it: the visitor's connection broke. */
  cancel(reason: unknown): void
}

/** A DirectResponse is the head of a response, and its content as it comes. */
export interface DirectResponse {
  /** The status, 200 or above. */
  readonly status: number
  /** The reason phrase, empty for the standard one. */
  readonly statusText: string
  /** The end-to-end fields. Content-Length is one of them only where it is `length`. */
  readonly fields: Field[]
  /** The length of the content, or of what GET would give in answer to HEAD. Undefined when it is not known. */
  readonly length: number | undefined
  /** Returns the content that is there, perhaps none. */
  ready(): BodyBatch
  /**
   * Resolves with the next content, once there are bytes or the end.
   * @throws the error with which the content broke off
   */
  next(): Promise<BodyBatch>
  /** The trailer fields, once the end was read. A visitor of HTTP/1.1 does not get them. */
  readonly trailers?: readonly Field[] | undefined
  /** Tells the sender that the rest will not be read. */
  cancel(reason: unknown): void
}
