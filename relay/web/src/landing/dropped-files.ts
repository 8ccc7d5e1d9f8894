// Takes files that are dropped anywhere on the page: they go into the folder. Without this, the browser would open the file in place of
// the page.
import { droppedEntries, filesOf } from '../../../../examples/share-folder/dropped.ts'
import { Store } from '../common/store.ts'
import { LANDING } from '../texts/landing.ts'
import { addFiles } from './demos/shelf.ts'
import { chooseKind, lastKind, publication } from './publication.ts'

/** Whether files are held over the page. */
export const isDragging: Store<boolean> = new Store(false)
/** Why the last files could not be taken; empty for no reason. */
export const dropError: Store<string> = new Store('')

/** @returns a function that ends it */
export function takeDrops(): () => void {
  const ended = new AbortController()
  addEventListener('dragover', (event) => hover(event, mayDrop()), ended)
  addEventListener('dragleave', ({ relatedTarget }) => relatedTarget ?? isDragging.set(false), ended)
  addEventListener('drop', (event) => void drop(event), ended)
  return () => ended.abort()
}

/** A site of another kind that is online stays what it is. */
function mayDrop(): boolean {
  const { value } = publication
  return value === undefined || value.state === 'closed' || value.kind === 'folder'
}

function hover(event: DragEvent, isWanted: boolean): void {
  const { dataTransfer } = event
  if (!dataTransfer?.types.includes('Files')) return
  event.preventDefault()
  dataTransfer.dropEffect = isWanted ? 'copy' : 'none'
  if (isDragging.value !== isWanted) isDragging.set(isWanted)
}

async function drop(event: DragEvent): Promise<void> {
  const entries = droppedEntries(event.dataTransfer)
  if (entries.length === 0) return
  event.preventDefault()
  isDragging.set(false)
  if (!mayDrop()) return
  dropError.set('')
  if (lastKind.value !== 'folder') chooseKind('folder')
  const [only] = entries
  try {
    addFiles(await filesOf(entries), entries.length === 1 && only?.isDirectory ? only.name : '')
  } catch {
    dropError.set(LANDING.notRead)
  }
}
