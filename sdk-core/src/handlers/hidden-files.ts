// Decides which files are hidden from visitors unless the option `hidden` is set.

/**
 * A short name (8.3) that Windows makes beside a long one: `GIT~1` finds `.git` and has no dot. It has at most
 * eight characters, and three after the dot.
 */
const SHORT_NAME = /^[^.~]{1,6}~\d{1,6}(?:\.[^.]{1,3})?$/
const SHORT_NAME_MAX_CHARS = 8

/** Returns whether a name is hidden. Well-known names (RFC 8615) are not. */
export function isHidden(name: string): boolean {
  return (name.startsWith('.') && name !== '.well-known') || isShortName(name)
}

function isShortName(name: string): boolean {
  return SHORT_NAME.test(name) && name.split('.', 1)[0]!.length <= SHORT_NAME_MAX_CHARS
}
