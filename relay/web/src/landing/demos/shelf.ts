// The files that the user chose for the folder, before it is published and while it is online.
import { Store } from '../../common/store.ts'

export interface Shelf {
  /** By path. */
  files: ReadonlyMap<string, File>
  /** The folder's name; empty where files were chosen one by one. */
  title: string
}

const EMPTY: Shelf = { files: new Map(), title: '' }

export const shelf: Store<Shelf> = new Store(EMPTY)

/** A file of the same path is replaced. @param title of the folder that they come from; empty for none */
export function addFiles(found: Iterable<readonly [path: string, file: File]>, title = ''): void {
  const { files, title: before } = shelf.value
  shelf.set({ files: new Map([...files, ...found]), title: before || title })
}

export function clearFiles(): void {
  shelf.set(EMPTY)
}

/** The first segment of a relative path is the chosen folder itself. */
export function addChosen(chosen: Iterable<File>): void {
  const all = [...chosen]
  const folder = /^([^/]+)\//.exec(all[0]?.webkitRelativePath ?? '')?.[1]
  addFiles(
    all.map((file) => [file.webkitRelativePath.replace(/^[^/]*\//, '') || file.name, file]),
    folder,
  )
}
