// A folder of the file system as a FileSystemDirectoryHandle, for the `files` handler.

import type { Stats } from 'node:fs'
import { opendir, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { isHidden, SvcError } from '@svc/sdk-core'
import type { DirectoryHandle, FileCoding, ListedEntry } from '@svc/sdk-core/handlers'
import { CompressedFiles } from './compressed-files.ts'
import { openFile, pathOf } from './disk-file.ts'

/** FolderOptions are the options of `openFolder`. */
export interface FolderOptions {
  /**
   * Allows a symbolic link with an ordinary name to lead to something hidden, such as `.git`. `files` decides about names that are
   * themselves hidden.
   * @default false
   */
  hidden?: boolean | undefined
}

/**
 * Opens a folder for serving. It follows a symbolic link only if the link stays inside and does not lead to
 * something hidden, so that its owner knows what is shared without checking each link.
 * @throws SvcError `invalid_option` when there is no such folder
 */
export async function openFolder(
  path: string,
  { hidden = false }: FolderOptions = {},
): Promise<DirectoryHandle> {
  try {
    const root = await realpath(path)
    if (!(await stat(root)).isDirectory()) throw new Error('it is a file')
    const compressed = new CompressedFiles()
    return new Folder({ path: root, hidden, compressed }, root) as unknown as DirectoryHandle
  } catch (cause) {
    throw new SvcError('invalid_option', `there is no folder ${path}`, { cause })
  }
}

type Kind = 'file' | 'directory'

/** The opened folder, with its real path. */
interface Root {
  path: string
  hidden: boolean
  compressed: CompressedFiles
}

/** The readable part of a handle. */
class Folder {
  readonly kind = 'directory'
  readonly name: string
  readonly #root: Root
  readonly #path: string

  constructor(root: Root, path: string) {
    this.name = basename(path)
    this.#root = root
    this.#path = path
  }

  async getDirectoryHandle(name: string): Promise<Folder> {
    return new Folder(this.#root, await this.#find(name, 'directory'))
  }

  async getFileHandle(name: string): Promise<{ getFile(): Promise<File> }> {
    const path = await this.#find(name, 'file')
    return { getFile: () => openFile(path, name) }
  }

  async *values(): AsyncGenerator<ListedEntry> {
    for await (const { name } of await opendir(this.#path)) {
      const entry = await this.#entryOf(name).catch(() => undefined)
      if (entry) yield entry
    }
  }

  async isSameEntry(other: { readonly name: string }): Promise<boolean> {
    return #path in other && other.#path === this.#path
  }

  /** Resolves with a file of this folder or one below in compressed form, or with undefined. */
  async compressed(file: File, coding: FileCoding): Promise<File | undefined> {
    const path = pathOf(file)
    return path === undefined ? undefined : this.#root.compressed.of(file, path, coding)
  }

  /** @throws DOMException as the web's handle does */
  async #find(name: string, wanted: Kind): Promise<string> {
    const path = await this.#resolve(name)
    if (kindOf(await stat(path)) !== wanted) throw new DOMException(`not a ${wanted}`, 'TypeMismatchError')
    return path
  }

  async #entryOf(name: string): Promise<ListedEntry | undefined> {
    const stats = await stat(await this.#resolve(name))
    const kind = kindOf(stats)
    const lastModified = Math.floor(stats.mtimeMs)
    if (kind === 'directory') return { name, kind, lastModified }
    return kind && { name, kind, lastModified, size: stats.size }
  }

  /** @returns the real path of the name, if that is inside the folder, and hidden only if the name itself is */
  async #resolve(name: string): Promise<string> {
    // A backslash is part of a name, except on Windows.
    const path = name.includes(sep)
      ? undefined
      : await realpath(join(this.#path, name)).catch(() => undefined)
    if (path === undefined || !this.#isInside(path) || (this.#leadsAstray(name) && this.#hides(path)))
      throw new DOMException('there is no such file', 'NotFoundError')
    return path
  }

  #isInside(path: string): boolean {
    const { path: root } = this.#root
    return path.startsWith(root.endsWith(sep) ? root : root + sep)
  }

  /** @returns whether the name leads to something hidden without being hidden itself */
  #leadsAstray(name: string): boolean {
    return !this.#root.hidden && !isHidden(name) && !this.#hides(this.#path)
  }

  #hides(path: string): boolean {
    return relative(this.#root.path, path).split(sep).some(isHidden)
  }
}

/** @returns undefined for anything but a file or folder: a device or a pipe would never end */
function kindOf(stats: Stats): Kind | undefined {
  if (stats.isDirectory()) return 'directory'
  return stats.isFile() ? 'file' : undefined
}
