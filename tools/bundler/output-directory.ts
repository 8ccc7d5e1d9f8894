// Makes the output of a build in a temporary directory, and puts it in its place in one step.
import { mkdirSync, mkdtempSync, renameSync } from 'node:fs'
import path from 'node:path'
import { root } from '../programs/command.ts'

/** @returns a new directory on the same file system as the repository, named after `prefix`; its user removes it */
export function temporaryDirectory(prefix: string): string {
  const cache = path.join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  return mkdtempSync(path.join(cache, prefix))
}

/** Moves `next` to `directory`, and what is there to `old`. */
export function replaceDirectory(directory: string, next: string, old: string): void {
  ignoring('ENOENT', () => renameSync(directory, old))
  // Another process that built at the same time, and was faster, has built the same.
  ignoring('ENOTEMPTY', () => renameSync(next, directory))
}

function ignoring(code: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== code) throw error
  }
}
