// Reads the upload of a snapshot: a manifest, then the files that it lists (docs/protocol.md §15.1).

import { CACHE_FILES_MAX, CACHE_MANIFEST_MAX_BYTES, type StaticCacheManifest } from '@svc/protocol'
import { RelayError } from '../../../core/errors.ts'
import { type BodyPart, MultipartReader } from './multipart-reader.ts'

export interface Upload {
  manifest: StaticCacheManifest
  /**
   * The contents of the files, in the order of the manifest. Each must be read once, before the next. Throws RelayError
   * `invalid_request` when the body has other parts than one `object` for each file, is malformed, or ends early.
   */
  objects: AsyncIterable<AsyncIterable<Buffer>>
}

/**
 * Reads the manifest, and leaves the rest of the body to the reader of the objects. A reader that stops closes the body.
 * @param parse throws an Error when the manifest is not valid
 * @throws RelayError `invalid_request`, and whatever the body throws
 */
export async function readUpload(
  body: AsyncIterable<Buffer>,
  contentType: string | undefined,
  parse: (manifest: unknown) => StaticCacheManifest,
): Promise<Upload> {
  const reader = new MultipartReader(body, contentType, CACHE_FILES_MAX + 1)
  try {
    const manifest = readManifest(await readText(await reader.next()), parse)
    return { manifest, objects: readObjects(reader, manifest.files.length) }
  } catch (error) {
    reader.close()
    throw error
  }
}

async function readText(part: BodyPart | undefined): Promise<Buffer> {
  if (part?.name !== 'manifest') throw invalid('the first part is not named manifest')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of part.content) {
    size += chunk.length
    if (size > CACHE_MANIFEST_MAX_BYTES)
      throw invalid(`the manifest has more than ${CACHE_MANIFEST_MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function readManifest(bytes: Buffer, parse: (manifest: unknown) => StaticCacheManifest): StaticCacheManifest {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw invalid('the manifest is not valid JSON')
  }
  try {
    return parse(value)
  } catch (error) {
    throw error instanceof RelayError ? error : invalid((error as Error).message)
  }
}

async function* readObjects(reader: MultipartReader, count: number): AsyncGenerator<AsyncIterable<Buffer>> {
  try {
    for (let number = 1; number <= count; number++) {
      const part = await reader.next()
      if (part === undefined)
        throw invalid(`the upload has ${number - 1} objects; its manifest lists ${count} files`)
      if (part.name !== 'object') throw invalid(`part ${number + 1} of the upload is not named object`)
      yield part.content
    }
    if ((await reader.next()) !== undefined)
      throw invalid(`the upload has more parts than its manifest lists files`)
  } finally {
    reader.close()
  }
}

function invalid(message: string): RelayError {
  return new RelayError('invalid_request', message)
}
