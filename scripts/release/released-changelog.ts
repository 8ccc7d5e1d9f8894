// Moves what the changelog has as unreleased below a version.

const UNRELEASED = '## Unreleased\n'
/** The beginning of the next section. */
const SECTION = /^## /m

/**
 * @param date of the release, in ISO 8601
 * @throws Error when there is nothing unreleased
 */
export function releasedChangelog(changelog: string, version: string, date: string): string {
  const at = changelog.indexOf(UNRELEASED)
  if (at < 0) throw new Error('CHANGELOG.md has no section "Unreleased"')
  const after = at + UNRELEASED.length
  const rest = changelog.slice(after)
  const end = rest.search(SECTION)
  if (rest.slice(0, end < 0 ? undefined : end).trim() === '')
    throw new Error('CHANGELOG.md has nothing that is unreleased')
  return `${changelog.slice(0, after)}\n## ${version} (${date})\n${rest}`
}
