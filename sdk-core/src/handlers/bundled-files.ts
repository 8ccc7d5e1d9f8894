// Serves files that were built into the page's own code, and passes all other requests to a handler.

import { fromBase64 } from '../bytes/base64.ts'
import { SvcError } from '../errors.ts'
import type { FetchHandler } from '../exchange/fetch-handler.ts'
import { fileResponse } from './file-response.ts'

/** A BundledFile is a file in a form that a module can contain. */
export interface BundledFile {
  /** The content, if it is UTF-8; otherwise it is in `base64`. */
  text?: string
  base64?: string
  /** The time of the last change, in milliseconds since the epoch. */
  modified: number
}

/** A Bundle holds files and pages that are part of a page's code. */
export interface Bundle {
  /** The files by name. `assets/app.js` is served at `/assets/app.js`. */
  files: Readonly<Record<string, BundledFile>>
  /** Prerendered pages: the name of the file for each path, such as `/about`. */
  pages?: Readonly<Record<string, string>>
  /** The prefix of the names of files that never change, because each name contains a hash of the content. */
  immutable?: string
}

/** One year, which caches treat as forever (RFC 9111 §1.2.2, RFC 8246). */
const IMMUTABLE = 'public, max-age=31536000, immutable'

/**
 * Returns a handler that answers GET and HEAD for the bundle's files and pages, with ranges and ETags as `files`
 * does, and passes all other requests to `handler`.
 * @throws SvcError `invalid_option` when a file's content is neither text nor base64
 */
export function bundled({ files, pages = {}, immutable }: Bundle, handler: FetchHandler): FetchHandler {
  const contents = new Map(Object.entries(files).map(([name, file]) => [name, fileOf(name, file)]))
  const nameOf = new Map([
    ...Object.entries(files).map(([name]) => [`/${name}`, name] as const),
    ...Object.entries(pages),
  ])
  return (request, info) => {
    const name = isRead(request) ? nameOf.get(pathOf(request)) : undefined
    const file = name === undefined ? undefined : contents.get(name)
    if (name === undefined || !file) return handler(request, info, info)
    const isImmutable = immutable !== undefined && name.startsWith(immutable)
    return fileResponse({ file, name: file.name }, request, {
      cacheControl: isImmutable ? IMMUTABLE : undefined,
    })
  }
}

/**
 * Returns a file of a bundle.
 * @throws SvcError `invalid_option` when its content is neither text nor base64
 */
export function fileOf(name: string, { text, base64, modified }: BundledFile): File {
  const content = text ?? fromBase64(base64 ?? '*')
  if (content === undefined) throw new SvcError('invalid_option', `${name} is neither text nor base64`)
  return new File([content], name, { lastModified: modified })
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** @returns '' for a path that is not UTF-8, which no file has */
function pathOf({ url }: Request): string {
  try {
    return decodeURIComponent(new URL(url).pathname)
  } catch {
    return ''
  }
}
