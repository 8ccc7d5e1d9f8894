// Takes the files of the folder: chosen, or dropped.
import { droppedEntries, filesOf } from '../../../../examples/share-folder/dropped.ts'
import { useStore } from '../common/store.ts'
import { useState, type VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import { addChosen, addFiles, clearFiles, shelf } from './demos/shelf.ts'

/** Every browser supports the attribute; the types lack it. */
const FOLDER = { webkitdirectory: true }

interface FolderFilesProps {
  error: string
  /** A folder is not online empty: what is online is removed by stopping it. */
  isOnline: boolean
}

/** The inputs stay in place for keyboards and screen readers. */
export function FolderFiles({ error, isOnline }: FolderFilesProps): VNode {
  const { files, title } = useStore(shelf)
  const [isOver, setOver] = useState(false)
  const [failure, setFailure] = useState('')
  const take = (event: Event): void => {
    const input = event.currentTarget as HTMLInputElement
    addChosen(input.files ?? [])
    input.value = ''
  }
  const drop = async (event: DragEvent): Promise<void> => {
    event.preventDefault()
    setOver(false)
    setFailure('')
    const entries = droppedEntries(event.dataTransfer)
    const [only] = entries
    try {
      addFiles(await filesOf(entries), entries.length === 1 && only?.isDirectory ? only.name : '')
    } catch {
      setFailure(LANDING.notRead)
    }
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is beside the buttons, which everybody can use
    <div
      class="drop"
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => void drop(event)}
    >
      <div class="choose">
        <label class="button">
          {LANDING.chooseFiles}
          <input type="file" multiple onChange={take} aria-describedby="files-error" />
        </label>
        <label class="button plain">
          {LANDING.chooseFolder}
          <input type="file" {...FOLDER} onChange={take} aria-describedby="files-error" />
        </label>
      </div>
      <p class="quiet">
        <output>
          {files.size === 0 ? LANDING.dropHere : LANDING.fileCount(files.size, namesOf(files, title))}
        </output>{' '}
        {files.size > 0 && !isOnline && (
          <button type="button" class="link" onClick={clearFiles}>
            {LANDING.clearFiles}
          </button>
        )}
      </p>
      <p class="error" id="files-error" role="alert">
        {files.size === 0 ? error || failure : failure}
      </p>
    </div>
  )
}

/** Names that are shown of several files. */
const NAMES_MAX = 3

function namesOf(files: ReadonlyMap<string, File>, title: string): string {
  if (title !== '') return title
  const names = [...files.keys()]
  return names.slice(0, NAMES_MAX).join(', ') + (names.length > NAMES_MAX ? ' …' : '')
}
