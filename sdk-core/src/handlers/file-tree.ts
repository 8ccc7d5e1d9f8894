// Finds files in the list of a file input, a map of paths, or a folder to which the user gave access.

import type { CompressingDirectory, DirectoryHandle, ListedEntry } from './directory-handle.ts'

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
  /** The size in bytes. Undefined for folders, and when finding it would mean opening each file. */
  size: number | undefined
  /** The time of the last change, in milliseconds since the epoch. Undefined where the size is, except for folders of Node. */
  modified: number | undefined
}

export interface FileTree {
  /** @param segments of the path; none may be empty, `.` or `..`, or contain a slash */
  file(segments: readonly string[]): Promise<File | undefined>
  /** @returns the first `limit` entries of a folder, or undefined when there is no such folder */
  list(segments: readonly string[], limit: number): Promise<DirectoryEntry[] | undefined>
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

function mapTree(files: ReadonlyMap<string, File>): FileTree {
  return {
    file: async (segments) => files.get(segments.join('/')),
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
    file: (segments) =>
      unlessMissing(async () => {
        const parent = await folder(segments.slice(0, -1))
        return (await parent.getFileHandle(segments.at(-1) ?? '')).getFile()
      }),
    list: (segments, limit) =>
      unlessMissing(async () => {
        const items: DirectoryEntry[] = []
        const entries: AsyncIterable<ListedEntry> = (await folder(segments)).values()
        for await (const { name, kind, size, lastModified: modified } of entries) {
          if (items.length === limit) break
          items.push({ name, isFolder: kind === 'directory', size, modified })
        }
        return items
      }),
    ...('compressed' in root && {
      compressed: (file, coding) => (root as unknown as CompressingDirectory).compressed(file, coding),
    }),
  }
}

/**
 * Resolves with undefined for a name that is missing, is of the other kind, or is invalid (TypeError). A lost
 * permission is an error.
 */
export async function unlessMissing<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find()
  } catch (error) {
    const { name } = error as Partial<Error>
    if (['NotFoundError', 'TypeMismatchError', 'TypeError'].includes(name ?? '')) return undefined
    throw error
  }
}
