// Reads what a person dropped: files, and folders with everything in them.

/** Files of one folder that the page keeps at most: more than a folder that people share has. */
const FILES_MAX = 20_000

/** Has to be called in the `drop` event, after which its items are gone. */
export function droppedEntries(transfer: DataTransfer | null): FileSystemEntry[] {
  return [...(transfer?.items ?? [])].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
}

/** @returns path → file. A folder that was dropped alone is the site's root. */
export async function filesOf(entries: readonly FileSystemEntry[]): Promise<Map<string, File>> {
  const [only] = entries
  const found = new Map<string, File>()
  const roots = entries.length === 1 && isFolder(only) ? await children(only) : entries
  for (const root of roots) await collect(root, '', found)
  return found
}

async function collect(entry: FileSystemEntry, parent: string, found: Map<string, File>): Promise<void> {
  const path = parent + entry.name
  if (isFolder(entry)) for (const child of await children(entry)) await collect(child, `${path}/`, found)
  else if (found.size < FILES_MAX) found.set(path, await fileOf(entry as FileSystemFileEntry))
  else throw new Error(`That is more than ${FILES_MAX} files: drop a smaller folder, or choose it instead.`)
}

function isFolder(entry: FileSystemEntry | undefined): entry is FileSystemDirectoryEntry {
  return entry?.isDirectory ?? false
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

/** A reader gives a folder in portions, of which an empty one is the end. */
async function children(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const all: FileSystemEntry[] = []
  for (;;) {
    const portion = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (portion.length === 0) return all
    all.push(...portion)
  }
}
