// The paths of rules and requests, and their comparison.

import { covers, isAmbiguous, isPathPattern } from '../semantics/path-pattern.ts'

const ALL = '/*'
const SLASHES = /\/{2,}/g
const LEADING_SLASHES = /^\/+/
const SEGMENT = /^[^/]+/
/** Characters that a path does not have, or that URL parsers change. */
const NOT_IN_PATHS = /[\0-\x20\x7f\\?#]|\/\/|\/\.{1,2}(?:\/|$)/

/** RequestPath is the path of a request. */
export class RequestPath {
  /** The path of the parsed URL. */
  readonly raw: string
  /** The path decoded, with single slashes. Undefined when servers may read the path in different ways. */
  readonly plain: string | undefined

  constructor(pathname: string) {
    this.raw = pathname
    this.plain = plainPath(pathname)
  }
}

/** PathPattern names the paths of a rule. */
export class PathPattern {
  readonly isAll: boolean
  /** True when `*` stands for the end of the path. */
  readonly isOpen: boolean
  readonly #plain: string
  /** The number of segments before the part that `*` stands for. */
  readonly #segments: number

  private constructor(plain: string) {
    this.isAll = plain === ALL
    this.isOpen = plain.endsWith('/*')
    this.#plain = plain
    this.#segments = plain.split('/').length - 2
  }

  /** @returns undefined when the text is no pattern */
  static parse(text: unknown): PathPattern | undefined {
    const plain = isCleanPath(text) ? plainPath(text) : undefined
    return plain === undefined ? undefined : new PathPattern(plain)
  }

  covers({ plain }: RequestPath): boolean {
    return this.isAll || (plain !== undefined && covers(this.#plain, plain))
  }

  /** Returns what `*` stands for in a path that the pattern covers, encoded as the visitor sent it. */
  rest({ raw }: RequestPath): string {
    let rest = raw.replace(LEADING_SLASHES, '')
    for (let left = this.#segments; left > 0; left -= 1)
      rest = rest.replace(SEGMENT, '').replace(LEADING_SLASHES, '')
    return rest
  }
}

/** Every path. */
export const ALL_PATHS: PathPattern = PathPattern.parse(ALL)!

/** Returns whether a text can be a pattern, or the path of a destination. */
export function isCleanPath(text: unknown): text is string {
  return typeof text === 'string' && isPathPattern(text) && !NOT_IN_PATHS.test(text) && !isAmbiguous(text)
}

function plainPath(pathname: string): string | undefined {
  if (isAmbiguous(pathname)) return undefined
  const single = pathname.includes('//') ? pathname.replace(SLASHES, '/') : pathname
  if (!single.includes('%')) return single
  try {
    return decodeURIComponent(single)
  } catch {
    return undefined
  }
}
