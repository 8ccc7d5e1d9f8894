// Moves what the changelog has as unreleased, and the notes of changesets, below a version.

const UNRELEASED = '## Unreleased\n'
/** The beginning of the next section. */
const SECTION = /^## /m

/**
 * @param date of the release, in ISO 8601
 * @param notes of changesets, each a paragraph in Markdown
 * @throws Error when there is nothing unreleased
 */
export function releasedChangelog(
  changelog: string,
  version: string,
  date: string,
  notes: readonly string[] = [],
): string {
  const at = changelog.indexOf(UNRELEASED)
  if (at < 0) throw new Error('CHANGELOG.md has no section "Unreleased"')
  const after = at + UNRELEASED.length
  const rest = changelog.slice(after)
  const end = rest.search(SECTION)
  const [unreleased, earlier] = end < 0 ? [rest, ''] : [rest.slice(0, end), rest.slice(end)]
  const items = notes.map((note) => `- ${note.trim().replaceAll('\n', '\n  ')}\n`)
  const released = [unreleased.trim(), items.join('').trimEnd()].filter((text) => text !== '')
  if (released.length === 0) throw new Error('CHANGELOG.md has nothing that is unreleased')
  return `${changelog.slice(0, after)}\n## ${version} (${date})\n\n${released.join('\n')}\n\n${earlier}`
}
