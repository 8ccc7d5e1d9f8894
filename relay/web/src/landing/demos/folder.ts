// Serves files of the user's machine from this tab.
import { files } from '@svc/sdk-browser/handlers'
import type { Demo } from './demo.ts'

interface FolderDemo extends Demo {
  /** Adds files and replaces those of the same path. @returns the number of shared files */
  add(chosen: Iterable<File>): number
}

export function createDemo(): FolderDemo {
  /** Files by path. The handler reads the map at each request. */
  const shared = new Map<string, File>()
  return {
    fetch: files(shared, { listing: true, archive: true }),
    add(chosen) {
      for (const file of chosen) shared.set(pathOf(file), file)
      return shared.size
    },
  }
}

/** The first segment of a relative path is the chosen folder itself. */
function pathOf(file: File): string {
  return file.webkitRelativePath.replace(/^[^/]*\//, '') || file.name
}
