// Lists the files of the option `cache`, in each form that it takes: by path, without hidden ones.

import { CACHE_FILES_MAX, compareCachePaths } from '@svc/protocol'
import { messageOf, SvcError } from '../errors.ts'
import type { DirectoryHandle } from '../handlers/directory-handle.ts'
import { byPath } from '../handlers/file-tree.ts'
import { isHidden } from '../handlers/hidden-files.ts'
import { unlessMissing } from '../handlers/unless-missing.ts'
import { isBlob } from '../platform-objects.ts'
import { invalidFiles } from './cache-failures.ts'
import type { CacheFiles } from './cache-options.ts'
import { CACHE_FOLDERS_MAX } from './limits.ts'

/** A file's path and its content, which is not checked yet. */
export type ListedFile = readonly [path: string, content: unknown]

/**
 * Resolves with the files, sorted by path as the relay wants them.
 * @throws SvcError `cache_files_invalid`
 */
export async function listFiles(given: () => CacheFiles | Promise<CacheFiles>): Promise<ListedFile[]> {
  const all = await entriesOf(given).catch((error) => {
    if (error instanceof SvcError && error.code === 'cache_files_invalid') throw error
    throw invalidFiles(`the files cannot be listed: ${messageOf(error)}`, error)
  })
  const shown = all.filter(([path]) => !path.split('/').some((name) => isHidden(name) && !isDots(name)))
  if (shown.length === 0) throw invalidFiles('there is no file to store')
  // A file system may have names in another Unicode normalization form than the paths of visitors.
  const named = shown.map(([path, content]) => [path.normalize('NFC'), content] as const)
  return named.sort(([one], [other]) => compareCachePaths(one, other))
}

/** Returns whether the name is `.` or `..`: a mistake that the check of the paths reports. */
function isDots(name: string): boolean {
  return name === '.' || name === '..'
}

async function entriesOf(given: () => CacheFiles | Promise<CacheFiles>): Promise<ListedFile[]> {
  const source = await given()
  const value: unknown = source
  if (typeof value !== 'object' || value === null || isBlob(value) || ArrayBuffer.isView(value))
    throw invalidFiles('cache.files is not a map, a record, a list of files or a folder')
  if (isFolder(source)) return filesBelow(source)
  if (isMap(source)) return [...source]
  if (isList(source)) return [...byPath(source)]
  return Object.entries(isBundle(source) ? source.files : source)
}

/** A record's values are contents of files and never functions, numbers or records, but its keys may be any path. */
function isFolder(source: CacheFiles): source is DirectoryHandle {
  return 'getFileHandle' in source && typeof source.getFileHandle === 'function'
}

function isMap(source: CacheFiles): source is Extract<CacheFiles, ReadonlyMap<string, unknown>> {
  return 'get' in source && typeof source.get === 'function'
}

function isList(source: CacheFiles): source is ArrayLike<File> {
  return 'length' in source && typeof source.length === 'number'
}

function isBundle(source: CacheFiles): source is Extract<CacheFiles, { files: object }> {
  if (!('files' in source)) return false
  const files: unknown = source.files
  const isFile = typeof files !== 'object' || isBlob(files) || ArrayBuffer.isView(files)
  // A file that was built has the time of its last change.
  return !isFile && files !== null && !('modified' in files && typeof files.modified === 'number')
}

async function filesBelow(root: DirectoryHandle): Promise<ListedFile[]> {
  const files: ListedFile[] = []
  const folders = [{ path: '', handle: root }]
  for (const { path, handle } of folders)
    for await (const { name, kind } of handle.values()) {
      if (isHidden(name)) continue
      const below = path + name
      if (kind === 'file') {
        if (files.length === CACHE_FILES_MAX) throw tooMany(CACHE_FILES_MAX, 'files', below)
        // It may have been deleted a moment ago.
        const file = await unlessMissing(async () => (await handle.getFileHandle(name)).getFile())
        if (file) files.push([below, file])
      } else {
        if (folders.length === CACHE_FOLDERS_MAX) throw tooMany(CACHE_FOLDERS_MAX, 'folders', below)
        const folder = await unlessMissing(() => handle.getDirectoryHandle(name))
        if (folder) folders.push({ path: `${below}/`, handle: folder })
      }
    }
  return files
}

function tooMany(max: number, what: string, path: string): SvcError {
  return invalidFiles(`the folder has more than ${max} ${what}: ${JSON.stringify(path)} exceeds that`)
}
