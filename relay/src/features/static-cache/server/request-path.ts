// Finds the stored file that a request means, as users of static hosts expect it.

import type { Snapshot, SnapshotFile } from '../snapshot.ts'

/** The scheme and the authority of a target in absolute form (RFC 9112 §3.2.2). */
const ORIGIN = /^https?:\/\/([^/?#]*)/i
/** The file that stands for its folder. */
const FOLDER_INDEX = 'index.html'

/** What a path leads to: a stored file, a folder that has an index, or nothing. */
export type Found =
  | { kind: 'file'; file: SnapshotFile }
  /**
   * The path lacks the final slash that relative links of the folder's index need. `location` is relative to the
   * request.
   */
  | { kind: 'folder'; location: string }
  | { kind: 'nothing' }
  /** The percent-encoding is invalid, or does not encode UTF-8. */
  | { kind: 'malformed' }

const NOTHING: Found = { kind: 'nothing' }

/**
 * The authority of a target in absolute form, which takes precedence over the Host field; undefined for all other
 * targets.
 */
export function authorityOf(target: string): string | undefined {
  return target.startsWith('/') ? undefined : ORIGIN.exec(target)?.[1]
}

/**
 * A percent-decoded path means the file with exactly that path. A path that ends with a slash means the index of its
 * folder. Any other path without a dot in its last segment means the index of the site, which many sites use as the
 * page of all their addresses, unless the site has turned that off.
 * @param target of the request, in origin form or absolute form
 */
export function findFile({ files, index, hasFallback }: Snapshot, target: string): Found {
  const path = decodedPath(target)
  if (path === undefined) return { kind: 'malformed' }
  const file = files.get(path.slice(1)) ?? files.get(pathOfIndex(path, index))
  if (file !== undefined) return { kind: 'file', file }
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (name !== '' && files.has(`${path.slice(1)}/${FOLDER_INDEX}`))
    return { kind: 'folder', location: locationOf(name, target) }
  const fallback = hasFallback && !name.includes('.') ? files.get(index) : undefined
  return fallback === undefined ? NOTHING : { kind: 'file', file: fallback }
}

/** @returns undefined when the percent-encoding is invalid */
function decodedPath(target: string): string | undefined {
  const origin = authorityOf(target) === undefined ? '' : (ORIGIN.exec(target)?.[0] ?? '')
  const [path = ''] = target.slice(origin.length).split(/[?#]/, 1)
  if (!path.includes('%')) return path === '' ? '/' : path
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

function pathOfIndex(path: string, index: string): string {
  if (path === '/') return index
  return path.endsWith('/') ? `${path.slice(1)}${FOLDER_INDEX}` : path.slice(1)
}

/** One encoded segment cannot name another host. */
function locationOf(name: string, target: string): string {
  const query = target.indexOf('?')
  return `${encodeURIComponent(name)}/${query < 0 ? '' : target.slice(query)}`
}
