// Serves files: the path of a request names a file, or a folder with an index or a listing.

import type { FetchHandler, FetchInfo } from '../exchange/fetch-handler.ts'
import type { Room } from '../webhooks/room.ts'
import { ARCHIVE, archive, archiveRoom } from './archive.ts'
import { directoryListing, ORDER } from './directory-listing.ts'
import { type FileResponseOptions, fileResponse } from './file-response.ts'
import { type FileSource, type FileTree, fileTree } from './file-tree.ts'
import { isHidden } from './hidden-files.ts'
import { lineOrPage } from './line-or-page.ts'
import { representationOf } from './precompressed.ts'
import { isNavigation } from './sessions/origin-checks.ts'
import { isViewable, textView, VIEW } from './text-view.ts'

/** FilesOptions are the options of `files`. */
export interface FilesOptions extends FileResponseOptions {
  /**
   * The file that answers for its folder, or false for none.
   * @default index.html
   */
  index?: string | false | undefined
  /**
   * Lists folders without an index, in an order that visitors choose, and shows text files in a page at `?view`. A `static`
   * listing has no links to other answers of the handler: it can be stored elsewhere.
   * @default false
   */
  listing?: boolean | 'static' | undefined
  /**
   * Has each listing offer its folder, with all below, as a ZIP archive, which the handler makes while it sends it. Whoever may
   * see the listing gets each file in it: do not set this where a handler, such as `paid`, or `rules` decide by the path.
   * @default false
   */
  archive?: boolean | undefined
  /**
   * Answers with the index of the top folder where there is no file, if the last part of the path has no extension: single-page
   * applications have paths of their own.
   * @default false
   */
  spa?: boolean | undefined
  /**
   * Also serves names that begin with a dot, such as `.env` and `.git`, and names such as `GIT~1`, by which Windows finds
   * those.
   * @default false
   */
  hidden?: boolean | undefined
}

/** The most lines of a listing: more than a person reads, in a page of about 100 kB. */
export const LISTING_MAX = 1000

/**
 * What a decoded segment must not be or contain. This is a first check; lookups cannot leave the tree anyway. A backslash is
 * part of a name, except on Windows, where no file has such a name.
 */
const FORBIDDEN_SEGMENT = /^\.{0,2}$|[/\0]/

/** Returns a handler that serves only `source`. */
export function files(source: FileSource, options: FilesOptions = {}): FetchHandler {
  const tree = fileTree(source)
  const room = archiveRoom()
  return async (request, info) => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return lineOrPage(request, 405, 'Only GET and HEAD', { Allow: 'GET, HEAD' })
    const asked = { tree, request, options, room, info }
    const response = (await find(asked)) ?? (await application(tree, request, options))
    return response ?? lineOrPage(request, 404, 'Not found')
  }
}

interface Asked {
  tree: FileTree
  request: Request
  options: FilesOptions
  room: Room
  /** A caller of its own may give none. */
  info: Partial<FetchInfo> | undefined
}

async function find(asked: Asked): Promise<Response | undefined> {
  const { tree, request, options } = asked
  const { pathname, search } = new URL(request.url)
  const path = parsePath(pathname, options.hidden ?? false)
  if (!path) return undefined
  const { segments, isFolder } = path
  const { index = 'index.html' } = options
  const name = isFolder ? index && [...segments, index] : segments
  const found = name
    ? await inEitherForm(name, async (segments): Promise<Found | undefined> => {
        const file = await tree.file(segments)
        return file && { file, segments }
      })
    : undefined
  if (found) {
    const name = found.segments.at(-1) ?? ''
    if (options.listing === true && search === VIEW && isViewable(name) && isNavigation(request))
      return textView(found.file, name)
    return respond(tree, found, request, options)
  }
  if (isFolder) return options.listing ? list(asked, segments) : undefined
  const folder = await inEitherForm(segments, (form) => tree.list(form, 1))
  // A folder's links need its trailing slash. One encoded segment cannot name another host.
  const location = `${encodeURIComponent(segments.at(-1) ?? '')}/${search}`
  return folder && new Response(null, { status: 301, headers: { Location: location } })
}

/** Resolves with the page of an application for one of its own paths; with undefined when that is not wanted. */
async function application(
  tree: FileTree,
  request: Request,
  options: FilesOptions,
): Promise<Response | undefined> {
  const { spa, index = 'index.html', hidden = false } = options
  const path = spa && index ? parsePath(new URL(request.url).pathname, hidden) : undefined
  if (!path || !index || path.segments.at(-1)?.includes('.')) return undefined
  const file = await tree.file([index])
  return file && respond(tree, { file, segments: [index] }, request, options)
}

interface Found {
  file: File
  segments: readonly string[]
}

/** Finds by the names as received, or in the other Unicode normalization form, which some systems use. */
async function inEitherForm<T>(
  asked: readonly string[],
  find: (segments: readonly string[]) => Promise<T | undefined>,
): Promise<T | undefined> {
  const path = asked.join('/')
  for (const form of new Set([path, path.normalize('NFC'), path.normalize('NFD')])) {
    const found = await find(form === '' ? [] : form.split('/'))
    if (found) return found
  }
  return undefined
}

async function respond(
  tree: FileTree,
  { file, segments }: Found,
  request: Request,
  options: FilesOptions,
): Promise<Response> {
  // A browser does not decode a file before it saves it.
  if (options.disposition === 'attachment') return fileResponse({ file, name: file.name }, request, options)
  const beside = (suffix: string): Promise<File | undefined> =>
    tree.file([...segments.slice(0, -1), `${segments.at(-1)}${suffix}`])
  return fileResponse(await representationOf(file, request, beside, tree.compressed), request, options)
}

/** @returns undefined for a path that no file can have */
function parsePath(pathname: string, hidden: boolean): { segments: string[]; isFolder: boolean } | undefined {
  const parts = pathname.slice(1).split('/')
  const isFolder = parts.at(-1) === ''
  if (isFolder) parts.pop()
  try {
    const segments = parts.map(decodeURIComponent)
    const isForbidden = (segment: string): boolean =>
      FORBIDDEN_SEGMENT.test(segment) || (!hidden && isHidden(segment))
    return segments.some(isForbidden) ? undefined : { segments, isFolder }
  } catch {
    return undefined // The segment is not UTF-8.
  }
}

async function list(
  { tree, request, options, room, info }: Asked,
  segments: string[],
): Promise<Response | undefined> {
  const { hidden = false, listing, archive: hasArchive = false } = options
  let form: readonly string[] = segments
  const items = await inEitherForm(segments, (name) => {
    form = name
    return tree.list(name, LISTING_MAX + 1)
  })
  if (!items) return undefined
  const { hostname, search, searchParams } = new URL(request.url)
  const names = [tree.name() ?? hostname, ...segments]
  if (hasArchive && search === ARCHIVE) {
    const remote = info?.remote
    return archive({ tree, segments: form, name: names.at(-1)!, hidden, request, remote }, room)
  }
  return directoryListing({
    names,
    items: items.slice(0, LISTING_MAX).filter(({ name }) => hidden || !isHidden(name)),
    isWhole: items.length <= LISTING_MAX,
    order: searchParams.get(ORDER) ?? '',
    links: { orders: listing === true, archive: hasArchive },
  })
}
