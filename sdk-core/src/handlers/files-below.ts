// All files below a folder, the folders nearest to it first.

import type { DirectoryHandle, ReadableDirectory } from './directory-handle.ts'
import { unlessMissing } from './unless-missing.ts'

/** A TreeFile is a file with the segments of its path. */
export type TreeFile = readonly [segments: readonly string[], file: File]

/** BelowLimits are the most files and folders that are looked at. */
export interface BelowLimits {
  files: number
  folders: number
}

interface Folder {
  handle: ReadableDirectory
  segments: readonly string[]
  above: Folder | undefined
}

/** Resolves with the files, or with what there is too much of. */
export async function filesBelow(
  root: DirectoryHandle,
  limits: BelowLimits,
): Promise<TreeFile[] | keyof BelowLimits> {
  const files: TreeFile[] = []
  const folders: Folder[] = [{ handle: root as ReadableDirectory, segments: [], above: undefined }]
  for (const folder of folders)
    for await (const { name, kind } of folder.handle.values()) {
      const segments = [...folder.segments, name]
      if (kind === 'file') {
        if (files.length === limits.files) return 'files'
        // It may have been deleted a moment ago.
        const file = await unlessMissing(async () => (await folder.handle.getFileHandle(name)).getFile())
        if (file) files.push([segments, file])
      } else {
        if (folders.length === limits.folders) return 'folders'
        const handle = await unlessMissing(() => folder.handle.getDirectoryHandle(name))
        if (handle && !(await leadsBack(handle, folder))) folders.push({ handle, segments, above: folder })
      }
    }
  return files
}

/** Resolves with whether a folder is one of those that it is in, as a symbolic link can make it. */
async function leadsBack(handle: ReadableDirectory, parent: Folder): Promise<boolean> {
  for (let folder: Folder | undefined = parent; folder; folder = folder.above)
    if (await handle.isSameEntry?.(folder.handle)) return true
  return false
}
