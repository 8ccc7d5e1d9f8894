// Reads the notes of changes that users see: the files that `npx changeset` writes.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** What changesets has before a note: the packages that changed. */
const FRONT_MATTER = /^---\n(?:(?!---).*\n)*---\n/

export interface Changesets {
  /** Names of the files. */
  files: string[]
  /** In the same order, in Markdown. */
  notes: string[]
}

export function readChangesets(directory: string): Changesets {
  const files = existsSync(directory)
    ? readdirSync(directory).filter((file) => file.endsWith('.md') && file !== 'README.md')
    : []
  const notes = files.map((file) =>
    readFileSync(path.join(directory, file), 'utf8').replace(FRONT_MATTER, '').trim(),
  )
  return { files, notes }
}
