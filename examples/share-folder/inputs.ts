// Takes files into the page: chosen in a dialog, or dropped.
import { element } from '../shared/dom.ts'
import { showError } from '../shared/show-error.ts'
import { droppedEntries, filesOf } from './dropped.ts'

export interface Shelf {
  add(found: Iterable<[path: string, file: File]>): void
  clear(): void
}

export function watchInputs(shelf: Shelf): void {
  for (const id of ['files', 'folder']) {
    const input = element<HTMLInputElement>(id)
    input.addEventListener('change', () => {
      shelf.add(chosenFiles(input))
      input.value = ''
    })
  }
  element('clear').addEventListener('click', () => shelf.clear())
  watchDrop(element('drop'), shelf)
}

function watchDrop(target: HTMLElement, shelf: Shelf): void {
  target.addEventListener('dragover', (event) => {
    event.preventDefault()
    target.classList.add('over')
  })
  target.addEventListener('dragleave', () => target.classList.remove('over'))
  target.addEventListener('drop', async (event) => {
    event.preventDefault()
    target.classList.remove('over')
    try {
      shelf.add(await filesOf(droppedEntries(event.dataTransfer)))
    } catch (error) {
      showError(error)
    }
  })
}

function chosenFiles(input: HTMLInputElement): [path: string, file: File][] {
  // The first segment of a relative path is the chosen folder itself.
  return [...(input.files ?? [])].map((file) => [
    file.webkitRelativePath.replace(/^[^/]*\//, '') || file.name,
    file,
  ])
}
