// gRPC-Web over HTTP: one message in, one message and a trailer out, as bytes or as Base64.
// Source: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md
import { Refusal } from './status.ts'

/** Bytes of a request: a transaction of the chain has 128 KiB at most. */
const MAX_BODY_BYTES = 1024 * 1024

const HEADER_BYTES = 5
const TRAILER_FLAG = 0x80
const TEXT_TYPE = /^application\/grpc-web-text/
const BINARY_TYPE = /^application\/grpc-web(?:\+proto)?(?:;|$)/

/** Pages of any origin may ask a node. */
export const CORS_HEADERS: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': '*',
  'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
  'Access-Control-Expose-Headers': 'grpc-status, grpc-message',
}

/** @throws {Refusal} for what is not one message of gRPC-Web */
export async function readMessage(request: Request): Promise<Uint8Array> {
  const type = request.headers.get('Content-Type') ?? ''
  const isText = TEXT_TYPE.test(type)
  if (!isText && !BINARY_TYPE.test(type)) throw new Refusal('INVALID_ARGUMENT', 'not a gRPC-Web request')
  const body = await readBody(request)
  const frame = isText ? fromBase64(new TextDecoder().decode(body)) : body
  if (frame.length < HEADER_BYTES || frame[0] !== 0)
    throw new Refusal('INVALID_ARGUMENT', 'the request has no uncompressed message')
  const length = new DataView(frame.buffer, frame.byteOffset).getUint32(1)
  if (frame.length !== HEADER_BYTES + length)
    throw new Refusal('INVALID_ARGUMENT', 'the request is not exactly one message')
  return frame.subarray(HEADER_BYTES)
}

async function readBody(request: Request): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of request.body ?? []) {
    length += piece.length
    if (length > MAX_BODY_BYTES)
      throw new Refusal('RESOURCE_EXHAUSTED', `a request has ${MAX_BODY_BYTES} bytes at most`)
    pieces.push(piece)
  }
  const body = new Uint8Array(length)
  let offset = 0
  for (const piece of pieces) {
    body.set(piece, offset)
    offset += piece.length
  }
  return body
}

export function messageResponse(request: Request, message: Uint8Array): Response {
  const trailer = frame(TRAILER_FLAG, new TextEncoder().encode('grpc-status: 0\r\n'))
  const data = frame(0, message)
  const isText = TEXT_TYPE.test(request.headers.get('Content-Type') ?? '')
  const body = isText ? toBase64(data) + toBase64(trailer) : concatenated(data, trailer)
  const type = `application/grpc-web${isText ? '-text' : ''}+proto`
  return new Response(body, { headers: { ...CORS_HEADERS, 'Content-Type': type } })
}

/** A response that has a status and no message. Its body is empty, and not absent, as over a connection. */
export function refusalResponse({ number, message }: Refusal): Response {
  const headers = {
    ...CORS_HEADERS,
    'Content-Type': 'application/grpc-web+proto',
    'grpc-status': String(number),
    'grpc-message': encodeURIComponent(message),
  }
  return new Response(new Uint8Array(), { headers })
}

function frame(flag: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEADER_BYTES + payload.length)
  bytes[0] = flag
  new DataView(bytes.buffer).setUint32(1, payload.length)
  bytes.set(payload, HEADER_BYTES)
  return bytes
}

function concatenated(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}

function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    throw new Refusal('INVALID_ARGUMENT', 'the request is not Base64')
  }
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
