// Tests of the web platform that the globals are not meant to pass: what these want dropped is what a server needs.

/** The end of a file's name, and the names of its tests. */
const DIFFERENCES: readonly [file: string, tests: RegExp][] = [
  // fields that only a browser may set
  ['request/request-headers.any.js', /^Adding invalid|is filtering headers/],
  ['headers/headers-no-cors.any.js', / cannot have /],
  ['headers/header-setcookie.any.js', /forbidden response header/],
]

export function isMeant(file: string, test: string): boolean {
  return DIFFERENCES.some(([name, tests]) => file.endsWith(name) && tests.test(test))
}
