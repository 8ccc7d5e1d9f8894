// Files that are sent with a content coding (RFC 9110 §8.4): precompressed ones of a site, such as `app.js.br`, and those that the
// source compresses.

import type { CompressingDirectory, FileCoding } from './directory-handle.ts'
import { mediaType } from './media-type.ts'

/** Files of a site's code. Others, such as `backup.tar.gz`, are sent unchanged. */
const CODE = /\.(?:css|data|html|js|mjs|svg|symbols\.json|wasm)$/i
const SUFFIXES: Readonly<Record<string, FileCoding>> = { '.br': 'br', '.gz': 'gzip' }
/** Media types of text, of code, and of what is not compressed already. */
const COMPRESSIBLE =
  /^text\/|[/+](?:json|xml)$|^application\/(?:javascript|wasm|rtf|x-ndjson)$|^image\/(?:bmp|x-icon|vnd\.microsoft\.icon)$|^font\/[ot]tf$/

/** A Representation is a file with its content coding. */
export interface Representation {
  file: File
  /** The name that determines the media type. */
  name: string
  /** The value of Content-Encoding. Undefined for none. */
  coding?: string | undefined
  /** True when the representation depends on Accept-Encoding. */
  varies?: boolean | undefined
}

/**
 * Returns how `file` is sent: with its coding if it is compressed code, or as a compressed file beside it that is not older.
 * A visitor that does not accept the coding gets the file itself.
 * @param beside finds the file whose name has this suffix
 * @param compressed compresses a file that has none beside it
 */
export async function representationOf(
  file: File,
  request: Request,
  beside: (suffix: string) => Promise<File | undefined>,
  compressed?: CompressingDirectory['compressed'],
): Promise<Representation> {
  const { name } = file
  const plain = { file, name }
  const suffix = name.slice(-3).toLowerCase()
  const inner = name.slice(0, -3)
  if (suffix in SUFFIXES && CODE.test(inner)) {
    const coding = SUFFIXES[suffix]!
    return accepts(request, coding) ? { file, name: inner, coding, varies: true } : { ...plain, varies: true }
  }
  if (CODE.test(name))
    for (const [suffix, coding] of Object.entries(SUFFIXES)) {
      const found = await beside(suffix)
      if (!found || found.lastModified < file.lastModified) continue
      if (accepts(request, coding)) return { file: found, name, coding, varies: true }
      Object.assign(plain, { varies: true })
    }
  const [type = ''] = mediaType(name, file.type).split(';')
  if (!compressed || !COMPRESSIBLE.test(type)) return plain
  const coding = Object.values(SUFFIXES).find((coding) => accepts(request, coding))
  const made = coding && (await compressed(file, coding))
  return made ? { file: made, name, coding, varies: true } : { ...plain, varies: true }
}

/** Returns whether the visitor accepts the coding (RFC 9110 §12.5.3); false without Accept-Encoding. */
function accepts({ headers }: Request, coding: string): boolean {
  const accepted = (headers.get('accept-encoding') ?? '').toLowerCase().split(',')
  return accepted.some((value) => {
    const [name, weight = ''] = value.split(';').map((part) => part.trim())
    return name === coding && !/^q=0(?:\.0*)?$/.test(weight)
  })
}
