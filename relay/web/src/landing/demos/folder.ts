// Serves files of the user's machine from this tab.
import { files } from '@svc/sdk-browser/handlers'
import { tabNumber } from '../../common/tab-number.ts'
import { LANDING } from '../../texts/landing.ts'
import type { Demo } from './demo.ts'
import { forgetFiles, keepFiles, keptFiles } from './kept-files.ts'
import { clearFiles, type Shelf, shelf } from './shelf.ts'

/**
 * A folder never goes online empty.
 * @param isResuming whether its files are those of the page before a reload
 * @throws an error with the code `files_gone`
 */
export async function createDemo(isResuming: boolean): Promise<Demo> {
  const tab = await tabNumber('landing-folder')
  const kept = isResuming ? await keptFiles(tab) : undefined
  if (kept) shelf.set(kept)
  if (shelf.value.files.size === 0)
    throw Object.assign(new Error(LANDING.errors.files_gone), { code: 'files_gone' })
  /** The handler reads the map at each request. */
  const shared = new Map<string, File>()
  const show = ({ files, title }: Shelf): void => {
    shared.clear()
    for (const [path, file] of files) shared.set(path, title === '' ? file : inFolder(file, title, path))
  }
  show(shelf.value)
  void keepFiles(tab, shelf.value)
  const unsubscribe = shelf.subscribe(() => {
    show(shelf.value)
    void keepFiles(tab, shelf.value)
  })
  const fetch = files(shared, { listing: true, archive: true })
  return {
    fetch,
    forget: () => {
      unsubscribe()
      clearFiles()
      void forgetFiles(tab)
    },
  }
}

/** The handler titles a listing by the folder of its files. Of those that were dropped or kept, the browser does not say it. */
function inFolder(file: File, title: string, path: string): File {
  return Object.defineProperty(file, 'webkitRelativePath', { value: `${title}/${path}`, configurable: true })
}
