// The path under which a target is asked: below its own, whatever the visitor requested.

/**
 * Returns path and query of a request to `target`. A path such as `//other.example` stays a path, and none leads above
 * the target's own, since a parsed URL has no dot segments.
 */
export function targetPath({ pathname: base }: URL, { pathname, search }: URL): string {
  return (base.endsWith('/') ? base.slice(0, -1) : base) + pathname + search
}
