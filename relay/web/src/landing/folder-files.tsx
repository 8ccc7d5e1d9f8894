// Takes the files of the folder that are chosen, and shows those that are dropped, too.
import { useStore } from '../common/store.ts'
import type { VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import { addChosen, clearFiles, shelf } from './demos/shelf.ts'
import { dropError, isDragging } from './dropped-files.ts'

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
  const isOver = useStore(isDragging)
  const failure = useStore(dropError)
  const take = (event: Event): void => {
    const input = event.currentTarget as HTMLInputElement
    addChosen(input.files ?? [])
    input.value = ''
  }
  return (
    <div class="drop" data-over={isOver}>
      <div class="choose">
        <label class="button plain">
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
