// Finds files in the list of a file input, a map of paths, or a folder to which the user gave access.

import type { CompressingDirectory, DirectoryHandle, ListedEntry } from './directory-handle.ts'
import { type BelowLimits, filesBelow, type TreeFile } from './files-below.ts'
import { unlessMissing } from './unless-missing.ts'

/**
 * A FileSource holds the files to serve.
 * - a FileList or an array: each file under its name; those of a folder input under their path in that folder
 * - a map of paths such as `photos/a.jpg`: it is read at each request, so it may change
 * - a FileSystemDirectoryHandle: the folder as it is at the time of the request
 */
export type FileSource = ArrayLike<File> | ReadonlyMap<string, File> | DirectoryHandle

/** A DirectoryEntry is one line of a listing. */
export interface DirectoryEntry {
  name: string
  isFolder: boolean
  /** The size in bytes. Undefined for folders, and for files that cannot be opened. */
  size: number | undefined
  /** The time of the last change, in milliseconds since the epoch. Undefined where the size is, except for folders of Node. */
  modified: number | undefined
}

export interface FileTree {
  /** Returns the name of the top folder; undefined when it has none. */
  name(): string | undefined
  /** @param segments of the path; none may be empty, `.` or `..`, or contain a slash */
  file(segments: readonly string[]): Promise<File | undefined>
  /** @returns the first `limit` entries of a folder, or undefined when there is no such folder */
  list(segments: readonly string[], limit: number): Promise<DirectoryEntry[] | undefined>
  /** @returns each file of a folder and of those below, with its path from there, or what there is too much of */
  below(segments: readonly string[], limits: BelowLimits): Promise<TreeFile[] | keyof BelowLimits>
  /** Undefined for a source that compresses nothing. */
  compressed?: CompressingDirectory['compressed'] | undefined
}

export function fileTree(source: FileSource): FileTree {
  if ('getFileHandle' in source) return handleTree(source)
  return mapTree('get' in source ? source : byPath(source))
}

/** Returns the files of a list by path. Of several with the same path, the last one wins. */
export function byPath(files: ArrayLike<File>): Map<string, File> {
  // The first segment of a relative path is the chosen folder itself.
  const pathOf = (file: File): string => file.webkitRelativePath?.replace(/^[^/]*\//, '') || file.name
  return new Map(Array.from(files, (file) => [pathOf(file), file]))
}

/** Returns the name of the folder that was chosen in a folder input. */
function topOf({ webkitRelativePath: path }: File): string | undefined {
  return path?.includes('/') ? path.split('/', 1)[0] : undefined
}

function mapTree(files: ReadonlyMap<string, File>): FileTree {
  return {
    name: () => {
      const names = new Set(Array.from(files.values(), topOf))
      return names.size === 1 ? [...names][0] : undefined
    },
    file: async (segments) => files.get(segments.join('/')),
    below: async (segments, limits) => {
      const prefix = segments.map((segment) => `${segment}/`).join('')
      const found: TreeFile[] = []
      for (const [path, file] of files) {
        if (!path.startsWith(prefix)) continue
        if (found.length === limits.files) return 'files'
        found.push([path.slice(prefix.length).split('/'), file])
      }
      return found
    },
    list: async (segments, limit) => {
      const prefix = segments.map((segment) => `${segment}/`).join('')
      const items = new Map<string, DirectoryEntry>()
      for (const [path, file] of files) {
        if (items.size === limit) break
        if (!path.startsWith(prefix)) continue
        const [name = '', ...below] = path.slice(prefix.length).split('/')
        const isFolder = below.length > 0
        const shown = isFolder ? undefined : file
        items.set(name, { name, isFolder, size: shown?.size, modified: shown?.lastModified })
      }
      return items.size > 0 || segments.length === 0 ? [...items.values()] : undefined
    },
  }
}

function handleTree(root: DirectoryHandle): FileTree {
  const folder = async (segments: readonly string[]): Promise<DirectoryHandle> => {
    let handle = root
    for (const segment of segments) handle = await handle.getDirectoryHandle(segment)
    return handle
  }
  return {
    name: () => root.name || undefined,
    below: async (segments, limits) => filesBelow(await folder(segments), limits),
    file: (segments) =>
      unlessMissing(async () => {
        const parent = await folder(segments.slice(0, -1))
        return (await parent.getFileHandle(segments.at(-1) ?? '')).getFile()
      }),
    list: (segments, limit) =>
      unlessMissing(async () => {
        const items: DirectoryEntry[] = []
        const handle = await folder(segments)
        const entries: AsyncIterable<ListedEntry> = handle.values()
        for await (const { name, kind, size, lastModified: modified } of entries) {
          if (items.length === limit) break
          items.push({ name, isFolder: kind === 'directory', size, modified })
        }
        return Promise.all(items.map((item) => withSize(item, handle)))
      }),
    ...('compressed' in root && {
      compressed: (file, coding) => (root as unknown as CompressingDirectory).compressed(file, coding),
    }),
  }
}

/** Handles of the web have no sizes: each file is opened for its own. */
async function withSize(entry: DirectoryEntry, folder: DirectoryHandle): Promise<DirectoryEntry> {
  if (entry.isFolder || entry.size !== undefined) return entry
  const file = await folder.getFileHandle(entry.name).then(
    (handle) => handle.getFile(),
    () => undefined,
  )
  return { ...entry, size: file?.size, modified: file?.lastModified }
}
