// Compares releases by semantic versioning.

/** A version (Semantic Versioning 2.0.0, sections 2 and 9), with its parts, limited in length. */
const VERSION =
  /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:-([0-9a-z-]{1,32}(?:\.[0-9a-z-]{1,32}){0,7}))?(?:\+[0-9a-z.-]{1,64})?$/i
const NUMBER = /^\d+$/

/** Returns whether a text is a semantic version whose numbers have at most nine digits. */
export function isVersion(text: string): boolean {
  return VERSION.test(text)
}

/**
 * Compares two versions by their precedence (Semantic Versioning 2.0.0, section 11).
 * @returns less than 0 when `one` is older, more than 0 when it is newer, 0 for the same; undefined when one is not a version
 */
export function compareVersions(one: string, other: string): number | undefined {
  const [mine, theirs] = [VERSION.exec(one), VERSION.exec(other)]
  if (mine === null || theirs === null) return undefined
  for (const part of [1, 2, 3]) {
    const difference = Number(mine[part]) - Number(theirs[part])
    if (difference !== 0) return difference
  }
  return comparePreReleases(mine[4], theirs[4])
}

/** A version without a pre-release follows all those with one. */
function comparePreReleases(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined)
  const [mine, theirs] = [one.split('.'), other.split('.')]
  for (const [index, identifier] of mine.entries()) {
    const against = theirs[index]
    if (against === undefined) return 1
    const difference = compareIdentifiers(identifier, against)
    if (difference !== 0) return difference
  }
  return mine.length - theirs.length
}

function compareIdentifiers(one: string, other: string): number {
  const areNumbers = [NUMBER.test(one), NUMBER.test(other)]
  if (areNumbers[0] && areNumbers[1]) return Number(one) - Number(other)
  if (areNumbers[0] !== areNumbers[1]) return areNumbers[0] ? -1 : 1
  return one < other ? -1 : Number(one > other)
}
