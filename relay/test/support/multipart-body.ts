// The body of an upload to the static cache, byte for byte, whole or in pieces.

import { createHash } from 'node:crypto'
import type { StaticCacheManifest } from '@svc/protocol'

export const BOUNDARY = 'x-boundary'
export const CONTENT_TYPE: string = `multipart/form-data; boundary=${BOUNDARY}`

export interface TestPart {
  /** As they are sent, without the blank line. */
  headers: string
  content: Buffer | string
}

export function partOf(name: string, content: Buffer | string, more = '; filename="blob"'): TestPart {
  return {
    headers: `Content-Disposition: form-data; name="${name}"${more}\r\nContent-Type: application/octet-stream`,
    content,
  }
}

export function bodyOf(parts: readonly TestPart[], end = `--${BOUNDARY}--\r\n`): Buffer {
  const pieces = parts.flatMap(({ headers, content }) => [
    `--${BOUNDARY}\r\n${headers}\r\n\r\n`,
    content,
    '\r\n',
  ])
  return Buffer.concat([...pieces, end].map((piece) => Buffer.from(piece as string)))
}

export function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Path → content, sorted by path. */
export type TestFiles = Readonly<Record<string, Buffer | string>>

export function manifestOf(files: TestFiles, index: string = Object.keys(files)[0]!): StaticCacheManifest {
  const paths = Object.keys(files).sort()
  return {
    index,
    files: paths.map((path) => {
      const content = Buffer.from(files[path] as string)
      return { path, size: content.length, sha256: sha256(content) }
    }),
  }
}

export function uploadOf(files: TestFiles): TestPart[] {
  const manifest = manifestOf(files)
  const objects = manifest.files.map(({ path }) => partOf('object', files[path]!))
  return [partOf('manifest', JSON.stringify(manifest), ''), ...objects]
}

/** @param sizeOf bytes of the next piece */
export async function* inPieces(body: Buffer, sizeOf: () => number): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; ) {
    const piece = body.subarray(at, at + sizeOf())
    at += piece.length
    yield piece
  }
}

export async function collect(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of source) chunks.push(chunk)
  return Buffer.concat(chunks)
}
