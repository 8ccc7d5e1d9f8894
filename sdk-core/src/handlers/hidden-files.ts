// Which files are hidden from visitors, unless the owner says otherwise.

/**
 * A name as Windows makes one beside a long name (8.3): `GIT~1` is another way to `.git`, which says nothing of the dot.
 * Eight characters at most, and three behind the point.
 */
const SHORT_NAME = /^[^.~]{1,6}~\d{1,6}(?:\.[^.]{1,3})?$/
const SHORT_NAME_MAX_CHARS = 8

/** RFC 8615: what is well known is not hidden. */
export function isHidden(name: string): boolean {
  return (name.startsWith('.') && name !== '.well-known') || isShortName(name)
}

function isShortName(name: string): boolean {
  return SHORT_NAME.test(name) && name.split('.', 1)[0]!.length <= SHORT_NAME_MAX_CHARS
}
