// Lets the user choose files and folders to share. The inputs stay in place for keyboards and screen readers.
import type { VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import { share } from './publication.ts'

/** Every browser supports the attribute; the types lack it. */
const FOLDER = { webkitdirectory: true }

export function FolderInputs({ count }: { count: number }): VNode {
  const take = (event: Event): void => {
    const input = event.currentTarget as HTMLInputElement
    share(input.files ?? [])
    input.value = ''
  }
  return (
    <div class="choose">
      <label class="button">
        {LANDING.chooseFiles}
        <input type="file" multiple onChange={take} />
      </label>
      <label class="button plain">
        {LANDING.chooseFolder}
        <input type="file" {...FOLDER} onChange={take} />
      </label>
      <output class="quiet">{count === 0 ? LANDING.noFiles : LANDING.fileCount(count)}</output>
    </div>
  )
}
