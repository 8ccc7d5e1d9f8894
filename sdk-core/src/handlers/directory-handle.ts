// The type of a folder that a handler serves, for programs with the browser's types and those with only Node's.

/** A ListedEntry is a file or folder in a folder. Handles of the web have only its kind and name. */
export interface ListedEntry {
  readonly kind: 'file' | 'directory'
  readonly name: string
  /** The size of a file in bytes. */
  readonly size?: number
  /** The time of the last change, in milliseconds since the epoch. */
  readonly lastModified?: number
}

/** A FileCoding is a content coding (RFC 9110 §8.4.1). */
export type FileCoding = 'br' | 'gzip'

/** A CompressingDirectory has its files in compressed form, too. */
export interface CompressingDirectory {
  /** Resolves with a file of the folder in compressed form; undefined when it is best sent as it is. */
  compressed(file: File, coding: FileCoding): Promise<File | undefined>
}

/** A ReadableDirectory is the part of a FileSystemDirectoryHandle that the `files` handler reads. */
export interface ReadableDirectory {
  readonly kind: 'directory'
  readonly name: string
  getDirectoryHandle(name: string): Promise<ReadableDirectory>
  getFileHandle(name: string): Promise<{ getFile(): Promise<File> }>
  values(): AsyncIterable<ListedEntry>
  /** Resolves with whether the other handle is of the same folder. Without it, each folder is taken for another one. */
  isSameEntry?(other: { readonly name: string }): Promise<boolean>
}

/**
 * A DirectoryHandle is the web's FileSystemDirectoryHandle. In a program whose `lib` lacks that type, it is the part that the
 * `files` handler reads.
 */
export type DirectoryHandle = typeof globalThis extends {
  FileSystemDirectoryHandle: { prototype: infer Handle }
}
  ? Handle
  : ReadableDirectory
