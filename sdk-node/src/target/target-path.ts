// The path of a request to a target: always below the target's own path.

/** Dot segments in the spellings of the URL standard; some servers treat a backslash as a slash. */
const DOT_SEGMENT = /[\\/](?:\.|%2e){1,2}(?:[\\/?]|$)/i

/**
 * Returns the path and query of a request to `target`: as the visitor sent them, unless there are dot segments, which a parsed
 * URL has resolved. So a path such as `//other.example` stays a path, and none leads above the target's own path.
 * @param sent the request target as the visitor sent it, if known; absolute-form is ignored in favour of the URL
 */
export function targetPath({ pathname: base }: URL, { pathname, search }: URL, sent?: string): string {
  const isKept = sent?.startsWith('/') && !DOT_SEGMENT.test(sent.split('?', 1)[0]!)
  return (base.endsWith('/') ? base.slice(0, -1) : base) + (isKept ? sent : pathname + search)
}
