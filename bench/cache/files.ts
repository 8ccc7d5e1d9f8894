// The files that both servers serve: small ones, one of a megabyte, and one as large as a snapshot may have.
import { CACHE_OBJECT_MAX_BYTES } from '@svc/protocol'

export const SMALL_FILES = 64
export const SMALL_BYTES = 4096
const MIB: number = 1024 * 1024

/** A file whose content does not shrink, so that no server has a compressed form of it. */
export interface ServedFile {
  path: string
  content: Uint8Array<ArrayBuffer>
}

export const LARGE: Readonly<Record<'1 MiB' | '10 MiB', string>> = {
  '1 MiB': 'one.bin',
  '10 MiB': 'ten.bin',
}

export function smallPath(number: number): string {
  return `small-${number}.bin`
}

/** @returns the files with an index, in the order of their paths */
export function servedFiles(): ServedFile[] {
  return [
    { path: 'index.html', content: new TextEncoder().encode('<!doctype html><title>x</title>') },
    file(LARGE['1 MiB'], MIB),
    ...smallFiles(SMALL_FILES),
    file(LARGE['10 MiB'], CACHE_OBJECT_MAX_BYTES),
  ].toSorted((one, other) => (one.path < other.path ? -1 : 1))
}

export function smallFiles(count: number): ServedFile[] {
  return Array.from({ length: count }, (_, number) => file(smallPath(number), SMALL_BYTES))
}

function file(path: string, bytes: number): ServedFile {
  const content = new Uint8Array(bytes)
  for (let at = 0; at < bytes; at += RANDOM_MAX) crypto.getRandomValues(content.subarray(at, at + RANDOM_MAX))
  return { path, content }
}

/** `getRandomValues` fills at most this many bytes at once. */
const RANDOM_MAX = 65_536
