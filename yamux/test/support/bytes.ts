// Bytes to send, and reading streams to their end.

import type { Stream } from '../../src/index.ts'

/** Bytes that show a lost, doubled or moved piece. */
export function pattern(length: number, seed = 0): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >>> 8) * 7 + (i >>> 16) + seed) & 0xff
  return bytes
}

export async function readAll(stream: Stream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for (let bytes = await stream.read(); bytes !== undefined; bytes = await stream.read()) chunks.push(bytes)
  return new Uint8Array(Buffer.concat(chunks))
}

/** Reads until `length` bytes came, or the end. */
export async function readBytes(stream: Stream, length: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for (let got = 0; got < length; ) {
    const bytes = await stream.read()
    if (bytes === undefined) break
    chunks.push(bytes)
    got += bytes.length
  }
  return new Uint8Array(Buffer.concat(chunks))
}

/** Sends everything back, and ends when the peer ends. */
export async function echo(stream: Stream): Promise<void> {
  for (let bytes = await stream.read(); bytes !== undefined; bytes = await stream.read())
    await stream.write(bytes)
  await stream.end()
}
