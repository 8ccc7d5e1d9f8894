// Listings as files, for folders that have no index: the relay serves files and makes no listings.
import type { FetchInfo } from '@svc/sdk-browser'
import { files } from '@svc/sdk-browser/handlers'

const INDEX = 'index.html'

/**
 * Resolves with the files by path, and with the listing of each folder as its index.
 * @param url of the copy, by which the top folder is titled
 */
export async function withIndex(
  shared: ReadonlyMap<string, File>,
  url: string,
): Promise<Map<string, File | string>> {
  const list = files(shared, { listing: 'static' })
  const all = new Map<string, File | string>(shared)
  for (const folder of foldersOf(shared.keys())) {
    const request = new Request(new URL(hrefOf(folder), url))
    if (!shared.has(folder + INDEX))
      all.set(folder + INDEX, await (await list(request, {} as FetchInfo)).text())
  }
  return all
}

/** Returns the paths of the folders, each with a slash at its end; that of the top is empty. Hidden ones are not stored. */
function foldersOf(paths: Iterable<string>): Set<string> {
  const folders = new Set([''])
  for (const path of paths) {
    const names = path.split('/').slice(0, -1)
    if (names.some((name) => name.startsWith('.'))) continue
    names.reduce((above, name) => {
      folders.add(`${above}${name}/`)
      return `${above}${name}/`
    }, '')
  }
  return folders
}

function hrefOf(path: string): string {
  return `/${path.split('/').map(encodeURIComponent).join('/')}`
}
