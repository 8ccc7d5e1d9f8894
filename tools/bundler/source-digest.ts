// Computes a digest of source files, which shows whether a build is up to date.
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../programs/command.ts'

/** Files that we or frameworks make of sources. */
const NO_SOURCES = ['**/node_modules/**', '**/dist/**', '**/app/build/**', '**/app/.*/**']

/** @param patterns globs, from the repository's root */
export function digestOf(patterns: readonly string[]): string {
  const hash = createHash('sha256')
  const entries = globSync(patterns, { cwd: root, exclude: NO_SOURCES, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
  for (const file of files.sort()) {
    const content = readFileSync(file)
    hash.update(`${path.relative(root, file)}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}
