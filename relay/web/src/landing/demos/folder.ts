// Files of the visitor's own machine, served from this tab.
import { files } from '@svc/sdk-browser/handlers'
import type { Demo } from './demo.ts'

interface FolderDemo extends Demo {
  /** Files of the same path are replaced. @returns how many are shared now */
  add(chosen: Iterable<File>): number
}

export function createDemo(): FolderDemo {
  /** Path → file. The handler reads it at each request. */
  const shared = new Map<string, File>()
  return {
    fetch: files(shared, { listing: true }),
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
