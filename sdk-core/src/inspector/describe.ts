// An entry as plain data, with its secrets masked.

import { bodyView, textOf } from './body-view.ts'
import { type DecodedBody, decodedBody } from './decoded-body.ts'
import { type Content, type Entry, fieldOf, type StreamMessage, typeOf } from './entry.ts'
import { hexDump } from './hex-dump.ts'
import type {
  BodyDetail,
  BodyView,
  ContentDetail,
  EntryDetail,
  EntrySummary,
  MessageDetail,
} from './messages.ts'
import type { ShownMessage } from './protobuf/index.ts'
import { type Decoding, grpcMessages, protobufView } from './protobuf-view.ts'
import { requestOf } from './replay.ts'
import { maskedFields, maskedUrl } from './secrets.ts'

/** The most bytes of a message in a hex dump. */
const HEX_MAX_BYTES = 1_024

export function summaryOf(entry: Entry, isUnmasked = false): EntrySummary {
  const { id, at, tunnel, kind, method, version, address, request, response, times, error } = entry
  const { host, pathname, search } = new URL(entry.url)
  const path = pathname + search
  const isOver = times.end !== undefined
  const grpc = kind === 'grpc' ? grpcStatus(entry) : undefined
  return {
    id,
    at,
    tunnel,
    kind,
    method,
    host,
    path: isUnmasked ? path : maskedUrl(path),
    version,
    address,
    status: response?.status,
    state: error === undefined ? (isOver ? 'done' : 'open') : 'failed',
    type: response && (typeOf(response) || undefined),
    request_bytes: request.bodyBytes,
    response_bytes: response?.bodyBytes ?? 0,
    ms: times.end ?? times.head,
    messages: entry.messages.length + entry.droppedMessages,
    grpc_status: grpc,
    replay_of: entry.replayOf,
    imported: entry.isImported,
  }
}

export async function detailOf(
  entry: Entry,
  isUnmasked: boolean,
  decoding: Decoding = { descriptors: [] },
): Promise<EntryDetail> {
  const { url, times, error, request, response, messages, droppedMessages } = entry
  const shown = await grpcMessages(entry, decoding.descriptors)
  const view = async (side: 'request' | 'response', decoded: DecodedBody): Promise<BodyView> =>
    (await protobufView(entry, side, decoded, decoding)) ?? bodyView(entry[side]!, decoded)
  const asked = await contentDetail(request, isUnmasked, (decoded) => view('request', decoded))
  const answered = response && {
    ...(await contentDetail(response, isUnmasked, (decoded) => view('response', decoded))),
    status: response.status,
    status_text: response.statusText,
  }
  const path = summaryOf(entry, true).path
  const fields = [asked, answered].flatMap((part) => (part ? [...part.headers, ...part.trailers] : []))
  return {
    ...summaryOf(entry, isUnmasked),
    url: isUnmasked ? url : maskedUrl(url),
    times: { ...times },
    error,
    grpc_message: entry.kind === 'grpc' ? grpcField(entry, 'grpc-message') : undefined,
    request: asked,
    response: answered,
    stream: messages.map((message) => messageDetail(message, shown.get(message))),
    dropped_messages: droppedMessages,
    masked: fields.some(({ masked }) => masked) || (!isUnmasked && maskedUrl(path) !== path),
    not_repeatable: whyNotRepeatable(entry),
  }
}

type View = (decoded: DecodedBody) => Promise<BodyView>

async function contentDetail(content: Content, isUnmasked: boolean, view: View): Promise<ContentDetail> {
  return {
    headers: maskedFields(content.headers, isUnmasked),
    trailers: maskedFields(content.trailers, isUnmasked),
    body: await bodyDetail(content, view),
  }
}

async function bodyDetail(content: Content, view: View): Promise<BodyDetail> {
  const decoded = await decodedBody(content)
  return {
    wire_bytes: content.bodyBytes,
    kept_bytes: content.body.length,
    encoding: fieldOf(content, 'content-encoding'),
    decoded_bytes: decoded.length,
    type: typeOf(content) || undefined,
    view: await view(decoded),
  }
}

/** @param shown the message, when it is protobuf */
function messageDetail(
  { data, eventId, isCompressed, ...message }: StreamMessage,
  shown: ShownMessage | undefined,
): MessageDetail {
  const { direction, kind, at, size, event } = message
  if (shown) {
    const { text, cut, ...protobuf } = shown
    return { direction, kind, at, size, text, cut, compressed: isCompressed, protobuf }
  }
  const cut = size > data.length
  const text = kind === 'binary' || kind === 'grpc' ? undefined : textOf(data, true)
  const isDumped = text === undefined && data.length > HEX_MAX_BYTES
  return {
    direction,
    kind,
    at,
    size,
    text: text ?? hexDump(data.subarray(0, HEX_MAX_BYTES)),
    cut: cut || isDumped,
    event,
    event_id: eventId,
    compressed: isCompressed,
  }
}

function whyNotRepeatable(entry: Entry): string | undefined {
  try {
    requestOf(entry, {})
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function grpcStatus(entry: Entry): number | undefined {
  const status = grpcField(entry, 'grpc-status')
  return status !== undefined && /^\d{1,2}$/.test(status) ? Number(status) : undefined
}

/** The status is in the trailers, or in the head of a response without messages. */
function grpcField({ response }: Entry, name: string): string | undefined {
  if (!response) return undefined
  const found = fieldOf({ headers: response.trailers }, name) ?? fieldOf(response, name)
  try {
    return found && decodeURIComponent(found)
  } catch {
    return found
  }
}
