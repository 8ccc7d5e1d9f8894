// The type of one endpoint in a table: its request, limits, response and failures.

import type { ErrorCode } from '@svc/protocol'
import type { z } from '../../config/schema.ts'

/** The credential of a request: none, the admin token, or one in that header or within the body. */
export type Auth =
  | 'none'
  | 'admin'
  | 'optional-admin'
  | 'token-header'
  | 'optional-token-header'
  | 'token-body'
  | 'siwe'
  | 'descriptor'
  | 'capability'

interface BodyBounds {
  maxBytes: number
  /** The whole body must have arrived by then, counted from the head of the request. */
  deadlineMs: number
}

/** The handler gets the value that `schema` parses. */
export interface JsonBody<Value> extends BodyBounds {
  kind: 'json'
  schema: z.ZodType<Value>
  /** Number of JSON values, nested ones included, if the schema allows more than other bodies have. */
  maxValues?: number
  /** A body may have this many bytes when its `access_token` is valid and comes within the first `maxBytes`. */
  withTokenMaxBytes?: number
}

/** The handler gets the bytes as one Buffer, which counts in the memory of requests until the handler is done. */
export interface RawBody extends BodyBounds {
  kind: 'raw'
  mediaType: string
}

/** The handler gets a {@link BodyStream} and reads at its own pace; the deadline counts what it takes for that, too. */
export interface StreamBody extends BodyBounds {
  kind: 'stream'
  mediaType: string
}

export type EndpointBody<Value> = JsonBody<Value> | RawBody | StreamBody

export interface Endpoint<Body, Data> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  summary: string
  auth: Auth
  /** Without one, a request's body is not read. */
  body?: EndpointBody<Body>
  /** Units of the budgets before authentication; without them the request is not counted there. */
  cost?: number
  status: number
  /** Clients may keep the answer and ask with its ETag whether it has changed (RFC 9110 §13); HEAD is taken, too. */
  isKept?: boolean
  /** The answer is a page of a list; `?after=` asks for another one. */
  isPaged?: boolean
  /** A parameter of the query that the endpoint needs, with a pattern of its values. */
  query?: { name: string; description: string; pattern: string }
  /** The data in the envelope, or the whole body of a response without one. */
  data?: z.ZodType<Data>
  /** The data in the envelope of a 202, where the endpoint may need more time than a request has. */
  pending?: z.ZodType<unknown>
  /** The media type of an answer outside the envelope. */
  bare?: string
  /** Failures within the envelope that the endpoint can answer with, beside `internal`. */
  errors: readonly ErrorCode[]
  /** Statuses of failures outside the envelope. */
  bareFailures?: readonly number[]
  /** Statuses of failures that are plain text. */
  plainFailures?: readonly number[]
}
