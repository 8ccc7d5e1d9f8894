// Contents and messages of protobuf, for a page. The code that reads them is loaded with the first one.

import { TEXT_MAX_BYTES } from './body-view.ts'
import { type DecodedBody, decodedBody } from './decoded-body.ts'
import { type Content, type Entry, fieldOf, type StreamMessage, typeOf } from './entry.ts'
import type { BodyView } from './messages.ts'
import type { Descriptors, ShownMessage } from './protobuf/index.ts'
import { isProtobuf, methodOf, namedType } from './protobuf/media-type.ts'

/** The most bytes of a message of a stream without its compression, and of the text that is made of it. */
const MESSAGE_MAX_BYTES: number = 64 * 1024
/** The most bytes of the messages of one entry that are read at once, from the newest: a page asks again with each change. */
const MESSAGES_MAX_BYTES: number = 256 * 1024
/** A call of gRPC whose messages are protobuf. */
const GRPC_TYPE = /^application\/grpc(?:\+proto)?$/

/** The most names of types that a view has. */
const TYPES_MAX = 1_000

type Side = 'request' | 'response'

/** Decoding is by which types protobuf is shown. */
export interface Decoding {
  descriptors: readonly Descriptors[]
  /** The type of contents of which nothing says it. */
  messageType?: string | undefined
}

/** Resolves with undefined for a content that is no protobuf. */
export async function protobufView(
  entry: Entry,
  side: Side,
  { bytes, length, isDecoded }: DecodedBody,
  { descriptors, messageType }: Decoding,
): Promise<BodyView | undefined> {
  const content = entry[side]
  if (!content || content.bodyBytes === 0 || !isDecoded || !isProtobuf(content)) return undefined
  const isCut = length === undefined || length > bytes.length
  const said = namedType(content) ?? typeOfMethod(entry, side, descriptors)
  const type = said ?? messageType
  const { shownMessage } = await import('./protobuf/index.ts')
  const { text, cut, ...shown } = shownMessage(bytes, isCut, type, descriptors)
  if (text === '') return undefined
  const isTooLong = text.length > TEXT_MAX_BYTES
  const types = said === undefined ? descriptors.flatMap(({ names }) => names).slice(0, TYPES_MAX) : []
  return {
    kind: 'protobuf',
    ...shown,
    text: text.slice(0, TEXT_MAX_BYTES),
    cut: cut || isTooLong,
    ...(types.length > 0 && { types }),
  }
}

/** Resolves with the messages of a gRPC call that are protobuf, by their message. Old ones are left out when all are too long. */
export async function grpcMessages(
  entry: Entry,
  descriptors: readonly Descriptors[],
): Promise<ReadonlyMap<StreamMessage, ShownMessage>> {
  const shown = new Map<StreamMessage, ShownMessage>()
  if (entry.kind !== 'grpc' || !GRPC_TYPE.test(typeOf(entry.request))) return shown
  const { shownMessage } = await import('./protobuf/index.ts')
  let left = MESSAGES_MAX_BYTES
  for (const message of [...entry.messages].reverse()) {
    const side = message.direction === 'in' ? 'request' : 'response'
    const { bytes, length, isDecoded } = await withoutCompression(message, entry[side])
    left -= bytes.length
    if (left < 0) break
    if (!isDecoded) continue
    const isCut = length === undefined || length > bytes.length
    const one = shownMessage(bytes, isCut, typeOfMethod(entry, side, descriptors), descriptors)
    const text = one.text.slice(0, MESSAGE_MAX_BYTES)
    if (text !== '' || bytes.length === 0)
      shown.set(message, { ...one, text, cut: one.cut || text.length < one.text.length })
  }
  return shown
}

async function withoutCompression(
  { data, size, isCompressed }: StreamMessage,
  content: Content | undefined,
): Promise<DecodedBody> {
  const coding = isCompressed && content && fieldOf(content, 'grpc-encoding')
  if (!coding) return { bytes: data, length: size, isDecoded: !isCompressed }
  const message = {
    headers: [['content-encoding', coding]] as const,
    trailers: [],
    body: data,
    bodyBytes: size,
    parts: undefined,
  }
  return await decodedBody(message, MESSAGE_MAX_BYTES, MESSAGE_MAX_BYTES)
}

function typeOfMethod({ url }: Entry, side: Side, descriptors: readonly Descriptors[]): string | undefined {
  const method = methodOf(url)
  if (!method) return undefined
  for (const one of descriptors) {
    const type = one.typeOf(method, side)
    if (type !== undefined) return type
  }
  return undefined
}
