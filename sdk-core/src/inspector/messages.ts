// What an inspector gives out: plain data, as the JSON of its API and for a page in the same tab. It imports only types.

import type { EntryKind, HttpVersion } from './entry.ts'

/** ListQuery asks for entries. Every filter has to fit. */
export interface ListQuery {
  /** The cursor of an earlier answer: only what changed since then is given. Without it, the newest entries. */
  after?: string | undefined
  /** The most entries of an answer without `after`: the newest. @default 200 */
  limit?: number | undefined
  /** The name of a tunnel, empty for the one without a name. */
  tunnel?: string | undefined
  /** Methods in upper case, separated by commas. */
  method?: string | undefined
  /** A part of the path and query, in any letter case. */
  path?: string | undefined
  /** Statuses separated by commas, each as `404`, `4xx`, `500-503`, `none` for those not answered, or `failed`. */
  status?: string | undefined
  /** A part of the URL, of a field, of a content or of a message, in any letter case. */
  text?: string | undefined
}

/** EntryList is the answer to a ListQuery. */
export interface EntryList {
  /** The cursor for the next question. */
  cursor: string
  /** True when the cursor of the question is not known any more: the entries are all that there are, and older ones are to be forgotten. */
  reset: boolean
  /**
   * With `after`, the entries that changed since then; others oldest first. An entry that no longer fits the filters, because it
   * changed, is in `removed`.
   */
  entries: EntrySummary[]
  /** Ids of entries that are no longer there, or do not fit. */
  removed: string[]
  state: InspectorState
}

/** InspectorState is what an inspector keeps, and what it does not. */
export interface InspectorState {
  /** True while requests pass without being recorded. */
  paused: boolean
  /** The number of entries, and the bytes of memory that they take, of which there may be `max_bytes`. */
  entries: number
  bytes: number
  max_bytes: number
  /** What was dropped for want of room, since the last time that all was cleared. */
  dropped_entries: number
  dropped_bytes: number
  /** The requests that passed during pauses. */
  skipped: number
  /** The bytes of each content that are kept. */
  max_body_bytes: number
  /** The names of the tunnels that are recorded; an empty one for that without a name. */
  tunnels: string[]
  /** The number of types of protobuf messages that the descriptors have. */
  message_types: number
}

/** EntrySummary is a line of the list. */
export interface EntrySummary {
  /** The id, which stays: a link to it leads to this entry for as long as that is kept. */
  id: string
  /** Milliseconds since the epoch. */
  at: number
  tunnel?: string | undefined
  kind: EntryKind
  method: string
  /** The host, and the path with its query, whose secrets are masked. */
  host: string
  path: string
  version?: HttpVersion | undefined
  /** The visitor's address. */
  address?: string | undefined
  status?: number | undefined
  /** `open` until the response has ended. */
  state: 'open' | 'done' | 'failed'
  /** The media type of the response, without parameters. */
  type?: string | undefined
  request_bytes: number
  response_bytes: number
  /** Milliseconds until the end of the response, or until its head while it is open. */
  ms?: number | undefined
  /** The number of messages so far, with those that are no longer kept. */
  messages: number
  /** The status of a gRPC call. */
  grpc_status?: number | undefined
  replay_of?: string | undefined
  /** True for an entry that came from a file. */
  imported: boolean
}

/** EntryDetail is all of one entry. */
export interface EntryDetail extends EntrySummary {
  url: string
  /** Milliseconds since the request; see Times. */
  times: { sent?: number | undefined; head?: number | undefined; end?: number | undefined }
  /** Why it broke off. */
  error?: string | undefined
  grpc_message?: string | undefined
  request: ContentDetail
  response?: (ContentDetail & { status: number; status_text: string }) | undefined
  /** The messages that are kept, oldest first. */
  stream: MessageDetail[]
  dropped_messages: number
  /** True when a secret is masked, which `unmask` shows. */
  masked: boolean
  /** Why it cannot be repeated as it is. */
  not_repeatable?: string | undefined
  /** What was found out about the signature of a webhook, with `webhooks`. */
  webhook?: WebhookDetail | undefined
}

/** WebhookDetail is whether a webhook's signature fits, and why. */
export interface WebhookDetail {
  sender: string
  result: 'valid' | 'invalid' | 'expired' | 'unchecked'
  code: string
  /** A sentence. */
  reason: string
}

/** HeaderField is one field, as it was written. */
export interface HeaderField {
  name: string
  value: string
  /** The value, or a part of it, is masked. */
  masked?: true | undefined
}

/** ContentDetail is the fields and the content of a request or a response. */
export interface ContentDetail {
  headers: HeaderField[]
  trailers: HeaderField[]
  body: BodyDetail
}

/** BodyDetail is a content: its size, its coding, and a view of it. */
export interface BodyDetail {
  /** The length as it was sent, and how many of these bytes are kept. */
  wire_bytes: number
  kept_bytes: number
  /** The Content-Encoding. */
  encoding?: string | undefined
  /** The length after decompression. Undefined when it is not known. */
  decoded_bytes?: number | undefined
  /** The media type, without parameters. */
  type?: string | undefined
  view: BodyView
}

/**
 * BodyView is a content for people. `cut` means that there is more.
 * - `json`: indented
 * - `form`: fields of `application/x-www-form-urlencoded`
 * - `multipart`: the parts of `multipart/form-data`, also those of a form that was too long to keep
 * - `image`: its bytes are asked for separately
 * - `protobuf`: as JSON by its descriptor, or its fields by number
 * - `hex`: lines of offset, bytes and characters
 */
export type BodyView =
  | { kind: 'none' }
  | { kind: 'json'; text: string; cut: boolean }
  | { kind: 'form'; fields: { name: string; value: string }[]; cut: boolean }
  | { kind: 'multipart'; parts: PartView[]; cut: boolean }
  | { kind: 'graphql'; operations: GraphqlView[] }
  | { kind: 'image'; type: string; cut: boolean }
  | ({ kind: 'protobuf'; text: string; cut: boolean } & ProtobufDetail)
  | { kind: 'text'; text: string; cut: boolean }
  | { kind: 'hex'; text: string; cut: boolean }

/** ProtobufDetail is how a message of protobuf was decoded. */
export interface ProtobufDetail {
  /** The name of its type. Undefined for fields by number. */
  type?: string | undefined
  /** Why it was not decoded by the descriptors that there are. */
  problem?: string | undefined
  /** The types that it may have, when nothing says which: `message_type` chooses one. */
  types?: string[] | undefined
}

/** PartView is one part of a multipart form. */
export interface PartView {
  name: string
  file_name?: string | undefined
  type?: string | undefined
  size: number
  /** The beginning of a text; undefined for a file that is none. */
  text?: string | undefined
  cut: boolean
}

/** GraphqlView is one operation of GraphQL. */
export interface GraphqlView {
  operation: 'query' | 'mutation' | 'subscription' | 'unknown'
  name?: string | undefined
  query: string
  /** Indented JSON. */
  variables?: string | undefined
}

/** MessageDetail is one message of a stream. */
export interface MessageDetail {
  direction: 'in' | 'out'
  kind: 'text' | 'binary' | 'event' | 'grpc' | 'close'
  /** Milliseconds since the request. */
  at: number
  size: number
  /** The text of a text, an event or a close, or of a message of protobuf; the lines of a hex dump for others. */
  text: string
  cut: boolean
  event?: string | undefined
  event_id?: string | undefined
  compressed?: boolean | undefined
  /** Of a message of protobuf. */
  protobuf?: ProtobufDetail | undefined
}

/** BodyBytes is a content in base64. */
export interface BodyBytes {
  type?: string | undefined
  base64: string
  /** False when there is more than was kept. */
  complete: boolean
}

/** ReplayRequest repeats an entry. */
export interface ReplayRequest {
  id: string
  /** What to change. `url` may be a path. `text` or `base64` is the new content. */
  edit?:
    | {
        method?: string | undefined
        url?: string | undefined
        headers?: { name: string; value: string }[] | undefined
        text?: string | undefined
        base64?: string | undefined
      }
    | undefined
  /** How often, one after another. @default 1 */
  count?: number | undefined
  /** The pause between them, in milliseconds. @default 0 */
  pause_ms?: number | undefined
}

/** Replayed is the first entry of a replay. Others follow, each with `replay_of`. */
export interface Replayed {
  id: string
}

/** Comparison is what differs between the answers of two entries. */
export interface Comparison {
  status: [number | undefined, number | undefined]
  /** The fields that differ, by name; undefined where one is missing. */
  headers: { name: string; one?: string | undefined; other?: string | undefined }[]
  /** The lines of both contents; `removed` are those of the first alone. */
  lines: { kind: 'same' | 'removed' | 'added'; text: string }[]
  /** True when the contents were too long to compare whole. */
  cut: boolean
}

/** ExportFormat is a program that sends a request: for a POSIX shell, in JavaScript, or in Python with `requests`. */
export type ExportFormat = 'curl' | 'fetch' | 'python'
