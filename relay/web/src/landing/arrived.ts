// What was shared to the installed app, until the user publishes it: nothing goes online without a press.
import { Store } from '../common/store.ts'
import { addFiles } from './demos/shelf.ts'
import { lastChoices } from './publication.ts'
import type { Shared } from './share-target/shared.ts'

/** Or why there is nothing: it did not come, or the relay refused it since it did not go to the service worker. */
export type Arrived = Shared | 'nothing' | 'refused' | undefined

export const arrived: Store<Arrived> = new Store<Arrived>(undefined)

/** The app was opened by a share: the page's address says so, and is then that of the page again. */
export async function receiveShared(): Promise<void> {
  const outcome = new URLSearchParams(location.search).get('shared')
  if (outcome === null) return
  history.replaceState(null, '', '/')
  if (outcome === 'refused') return arrived.set('refused')
  const { takeShared } = await import('./share-target/shared.ts')
  const shared = await takeShared().catch(() => undefined)
  arrived.set(shared && (shared.files.length > 0 || shared.text !== '') ? shared : 'nothing')
}

/** Puts it into the form, or into the folder that is online. @returns what kind of site it is for */
export function takeArrived({ files, text }: Shared): 'folder' | 'note' {
  arrived.set(undefined)
  if (files.length === 0) {
    lastChoices.set({ ...lastChoices.value, note: text })
    return 'note'
  }
  addFiles(files.map((file, at) => [nameOf(file, at, files), file]))
  return 'folder'
}

/** Phones give all photos the same name at times. */
function nameOf({ name }: File, at: number, files: readonly File[]): string {
  const before = files.slice(0, at).filter((file) => file.name === name).length
  return before === 0 ? name : name.replace(/(?=\.[^.]*$|$)/, ` (${before + 1})`)
}
