// Decompresses a kept content (RFC 9110 §8.4), within bounds: a few bytes may stand for very many.

import { type Content, fieldOf } from './entry.ts'

/** The most bytes of a decompressed content that are kept for a view. */
const DECODED_MAX_BYTES: number = 1024 * 1024
/** The most bytes to which a content is decompressed to learn its length. */
const COUNTED_MAX_BYTES: number = 64 * 1024 * 1024

/** A DecodedBody is a content without its compression. */
export interface DecodedBody {
  bytes: Uint8Array<ArrayBuffer>
  /** The length of all of it. Undefined when it is not known. */
  length: number | undefined
  /** False when it is still compressed, because the coding is not known or the content is broken. */
  isDecoded: boolean
}

const FORMATS: Readonly<Record<string, string>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'brotli',
  zstd: 'zstd',
}

/** Returns the codings of a content, the last applied first; none when there is no coding. */
function codingsOf(content: Content): string[] {
  const codings = (fieldOf(content, 'content-encoding') ?? '').toLowerCase().split(',')
  return codings
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
    .reverse()
}

/**
 * @param max the most bytes to keep of it
 * @param counted the most bytes to which it is decompressed
 */
export async function decodedBody(
  content: Content,
  max: number = DECODED_MAX_BYTES,
  counted: number = COUNTED_MAX_BYTES,
): Promise<DecodedBody> {
  const { body, bodyBytes } = content
  const codings = codingsOf(content)
  if (codings.length === 0 || body.length === 0) return { bytes: body, length: bodyBytes, isDecoded: true }
  const raw = { bytes: body, length: undefined, isDecoded: false }
  const formats = codings.flatMap((coding) => FORMATS[coding] ?? [])
  if (formats.length !== codings.length || formats.length > 2) return raw
  try {
    let stream: ReadableStream<Uint8Array> = new Blob([body]).stream()
    for (const format of formats) stream = stream.pipeThrough(decompression(format))
    const { bytes, length, isWhole } = await readBounded(stream, max, counted)
    return { bytes, length: isWhole && body.length === bodyBytes ? length : undefined, isDecoded: true }
  } catch {
    return raw
  }
}

/** @throws TypeError when the platform does not know the format */
function decompression(format: string): ReadableWritablePair<Uint8Array, Uint8Array> {
  return new DecompressionStream(format as CompressionFormat) as ReadableWritablePair<Uint8Array, Uint8Array>
}

/** Reads until the end, an error, or too much. @throws the error when nothing came before it */
async function readBounded(
  stream: ReadableStream<Uint8Array>,
  max: number,
  counted: number,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; length: number; isWhole: boolean }> {
  const reader = stream.getReader()
  const kept: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  let room = max
  const result = async (isWhole: boolean): ReturnType<typeof readBounded> => {
    const bytes = new Uint8Array(await new Blob(kept).arrayBuffer())
    return { bytes, length, isWhole }
  }
  try {
    while (length <= counted) {
      const { done, value } = await reader.read()
      if (done) return await result(true)
      length += value.length
      if (room > 0) kept.push(value.slice(0, room) as Uint8Array<ArrayBuffer>)
      room -= Math.min(room, value.length)
    }
  } catch (error) {
    // The beginning of a compressed content ends like this.
    if (length === 0) throw error
  }
  await reader.cancel().catch(() => {})
  return await result(false)
}
