// `npm run release -- X.Y.Z [--dry-run]`: sets the version of all packages, moves what is unreleased in the changelog below that
// version, commits and tags. It pushes and publishes nothing.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { compareVersions, isVersion } from '@svc/protocol'
import { root } from '../tools/programs/command.ts'
import { readChangesets } from './release/changesets.ts'
import { git } from './release/git.ts'
import { releasedChangelog } from './release/released-changelog.ts'
import { type Edit, versionEdits } from './release/version-edits.ts'

const USAGE = `Usage: npm run release -- X.Y.Z [--dry-run]
It sets the version of every package, of what they need of each other and of the lockfile, moves what CHANGELOG.md has as
unreleased, and the notes in .changeset, below that version, commits, and makes the tag vX.Y.Z. With --dry-run it says what it would change.
`
const USAGE_EXIT_CODE = 2
const CHANGELOG = 'CHANGELOG.md'
/** The length of a date in ISO 8601, without the time. */
const DATE_LENGTH = 10

const { values, positionals } = parseOptions()
const [version = ''] = positionals
try {
  release(version, values['dry-run'])
} catch (error) {
  fail(error instanceof Error ? error.message : String(error))
}

/** @throws Error the reason for which there is no release; nothing has changed then */
function release(next: string, isDryRun: boolean): void {
  const current: string = JSON.parse(read('package.json')).version
  requireNewer(next, current)
  const tag = `v${next}`
  if (git('tag', '--list', tag) !== '') throw new Error(`the tag ${tag} exists`)
  if (git('status', '--porcelain') !== '')
    throw new Error('there are changes that are not committed: commit or stash them')
  const date = new Date().toISOString().slice(0, DATE_LENGTH)
  const { files: used, notes } = readChangesets(path.join(root, '.changeset'))
  const edits: Edit[] = [
    ...versionEdits(read, current, next),
    { file: CHANGELOG, text: releasedChangelog(read(CHANGELOG), next, date, notes) },
  ]
  if (isDryRun) {
    for (const { file } of edits) console.log(`would change ${file}`)
    for (const file of used) console.log(`would remove .changeset/${file}`)
    console.log(`would commit ${edits.length} files and make the tag ${tag} (${current} → ${next})`)
    return
  }
  const before = git('rev-parse', 'HEAD')
  try {
    for (const { file, text } of edits) writeFileSync(path.join(root, file), text)
    git('add', ...edits.map(({ file }) => file))
    if (used.length > 0) git('rm', '--quiet', ...used.map((file) => `.changeset/${file}`))
    git('commit', '--quiet', '--message', `release: ${next}`)
    git('tag', '--annotate', tag, '--message', `Release ${next}`)
  } catch (error) {
    // Everything was committed, so this takes back only what happened here.
    git('reset', '--quiet', '--hard', before)
    throw error
  }
  console.log(`${current} → ${next}: ${edits.length} files are committed and tagged ${tag}`)
}

function requireNewer(next: string, current: string): void {
  if (!isVersion(next)) throw new Error(`${next} is no semantic version, such as 1.2.3 or 1.2.3-rc.1`)
  const difference = compareVersions(next, current)
  if (difference === undefined || difference <= 0)
    throw new Error(`${next} does not come after ${current}, the version of the packages`)
}

function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8')
}

function parseOptions(): { values: { 'dry-run': boolean }; positionals: string[] } {
  try {
    const options = { 'dry-run': { type: 'boolean', default: false } } as const
    const parsed = parseArgs({ options, allowPositionals: true })
    if (parsed.positionals.length === 1) return parsed
  } catch (error) {
    console.error(`npm run release: ${(error as Error).message}`)
  }
  process.stderr.write(USAGE)
  process.exit(USAGE_EXIT_CODE)
}

function fail(message: string): never {
  console.error(`npm run release: ${message}`)
  process.exit(1)
}
