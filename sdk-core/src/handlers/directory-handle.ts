// The type of a folder that a handler serves, for programs with the browser's types and those with only Node's.

/** A ReadableDirectory is the part of a FileSystemDirectoryHandle that the `files` handler reads. */
export interface ReadableDirectory {
  readonly kind: 'directory'
  readonly name: string
  getDirectoryHandle(name: string): Promise<ReadableDirectory>
  getFileHandle(name: string): Promise<{ getFile(): Promise<File> }>
  values(): AsyncIterable<{ readonly kind: 'file' | 'directory'; readonly name: string }>
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
