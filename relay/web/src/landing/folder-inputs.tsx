// How files come into the shared folder. The inputs stay where they are for keyboards and screen readers.
import type { VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import { share } from './publication.ts'

/** Every browser knows it, and no type. */
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
