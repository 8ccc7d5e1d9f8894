// Path patterns of options: `/exactly/this`, or `/all/below/*`. And paths that servers read in different ways.

const PATTERN = /^\/[^*]*(?:\/\*)?$|^\/\*$/
/**
 * Dots and slashes that are encoded, even twice, and dots with parameters: a framework that decodes or strips them
 * would see another path than the one compared here.
 */
const AMBIGUOUS = /%(?:25)*(?:2e|2f|5c)|\/\.{1,2};/i

/** Returns whether the text is a path pattern. */
export function isPathPattern(text: string): boolean {
  return PATTERN.test(text)
}

/** Returns whether the pattern names the path, both of which are spelled alike. */
export function covers(pattern: string, pathname: string): boolean {
  return pattern.endsWith('/*') ? pathname.startsWith(pattern.slice(0, -1)) : pathname === pattern
}

/** Returns whether servers may read the path of a parsed URL in different ways. */
export function isAmbiguous(pathname: string): boolean {
  return AMBIGUOUS.test(pathname)
}
