// Says which files are hidden from visitors unless the option `hidden` is set.

/**
 * A short name (8.3) as Windows makes it beside a long one: `GIT~1` leads to `.git`, and shows no dot. It has at most
 * eight characters, and three after the point.
 */
const SHORT_NAME = /^[^.~]{1,6}~\d{1,6}(?:\.[^.]{1,3})?$/
const SHORT_NAME_MAX_CHARS = 8

/** Well-known names are not hidden (RFC 8615). */
export function isHidden(name: string): boolean {
  return (name.startsWith('.') && name !== '.well-known') || isShortName(name)
}

function isShortName(name: string): boolean {
  return SHORT_NAME.test(name) && name.split('.', 1)[0]!.length <= SHORT_NAME_MAX_CHARS
}
