// The path under which a target is asked: below its own, whatever the visitor requested.

/** Dot segments in the spellings that a URL knows; some servers take a backslash for a slash. */
const DOT_SEGMENT = /[\\/](?:\.|%2e){1,2}(?:[\\/?]|$)/i

/**
 * Returns path and query of a request to `target`: as the visitor sent them, unless there are dot segments, which a parsed
 * URL has resolved. So a path such as `//other.example` stays a path, and none leads above the target's own.
 * @param sent the target as the visitor sent it, if that is known; one in absolute-form is taken from the URL
 */
export function targetPath({ pathname: base }: URL, { pathname, search }: URL, sent?: string): string {
  const isKept = sent?.startsWith('/') && !DOT_SEGMENT.test(sent.split('?', 1)[0]!)
  return (base.endsWith('/') ? base.slice(0, -1) : base) + (isKept ? sent : pathname + search)
}
