// Says which files are worth compressing.

import { COMPRESSED_MIN_BYTES } from '../../../core/http/content-coding.ts'
import { mediaTypeOf } from '../../../core/http/media-type.ts'

interface ListedFile {
  readonly path: string
  readonly size: number
  readonly sha256: string
}

/** Media types beside text that compress well. */
const APPLICATIONS =
  /^application\/(?:javascript|json|xml|wasm|rtf|vnd\.ms-fontobject|[a-z.-]+\+(?:json|xml))$/
const OTHERS = /^(?:text\/.+|image\/(?:bmp|svg\+xml|x-icon|vnd\.microsoft\.icon)|font\/(?:ttf|otf))$/

/** One file for each content that compresses well, by its hash. */
export function compressibleFiles<T extends ListedFile>(files: Iterable<T>): ReadonlyMap<string, T> {
  const found = new Map<string, T>()
  for (const file of files)
    if (file.size >= COMPRESSED_MIN_BYTES && isCompressible(file.path)) found.set(file.sha256, file)
  return found
}

function isCompressible(path: string): boolean {
  const type = mediaTypeOf(path)
  return APPLICATIONS.test(type) || OTHERS.test(type)
}
