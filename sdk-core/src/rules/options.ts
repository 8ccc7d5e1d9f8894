// The traffic rules that users give.

/** OneOrMore is one rule, or several. */
type OneOrMore<T> = T | readonly T[]

/**
 * TrafficRules say what happens to requests before the handler gets them, and to responses. They apply in the order of these
 * members, whatever order they are written in. Of redirects, rewrites, CORS, content, mocks and timeouts, the first whose path matches
 * applies; of the header rules, all that match do, one after the other.
 */
export interface TrafficRules {
  /**
   * Answers 503, with a page for people. `true` closes the whole site.
   * @default false
   */
  maintenance?: boolean | OneOrMore<MaintenanceRule> | undefined
  /** Answers with another address. */
  redirects?: OneOrMore<RedirectRule> | undefined
  /** Gives the handler another path than the visitor sees. */
  rewrites?: OneOrMore<RewriteRule> | undefined
  /** Lets pages of other origins read responses (CORS). It answers preflights. */
  cors?: OneOrMore<CorsRule> | undefined
  /** Changes the header fields of requests. */
  requestHeaders?: OneOrMore<HeaderRule> | undefined
  /** Bounds the content of requests. */
  requestBody?: OneOrMore<RequestBodyRule> | undefined
  /** Answers without the handler: a mock of what it will do, or of a server that is not there. */
  mocks?: OneOrMore<MockRule> | undefined
  /** Bounds the time that the handler has. */
  timeouts?: OneOrMore<TimeoutRule> | undefined
  /** Changes the header fields of all responses, also of those that a rule gives. */
  responseHeaders?: OneOrMore<HeaderRule> | undefined
}

/** PathRule is what all rules have. */
interface PathRule {
  /**
   * The path that the visitor asked for: `/exactly/this`, or `/all/below/*`. Letter case counts, percent-encoding and doubled
   * slashes do not.
   * @default every path
   */
  path?: string | undefined
}

/** MaintenanceRule closes a path. */
interface MaintenanceRule extends PathRule {
  /**
   * What visitors read.
   * @default This site is down for maintenance.
   */
  text?: string | undefined
  /**
   * The seconds after which visitors may try again (`Retry-After`).
   * @default 300
   */
  retryAfter?: number | undefined
  /**
   * Paths that stay open, as in `path`.
   * @default none
   */
  except?: readonly string[] | undefined
}

/** RedirectRule sends visitors to another address. */
interface RedirectRule extends PathRule {
  /**
   * A path of the site, or an http(s) URL. With `/*` at its end, it continues with what `*` stands for in `path`. The visitor's query
   * is kept, unless it has its own.
   */
  to: string
  /**
   * 301, 302, 303, 307 or 308.
   * @default 302
   */
  status?: number | undefined
}

/** RewriteRule changes the path of a request. */
interface RewriteRule extends PathRule {
  /** A path. With `/*` at its end, it continues with what `*` stands for in `path`: `/api/*` to `/*` strips a prefix. */
  to: string
}

/** CorsRule says which origins may read responses. It replaces what the handler says about that. */
interface CorsRule extends PathRule {
  /** Origins such as `https://app.example`, or `*` alone for any. */
  origins: readonly string[]
  /**
   * The methods that preflights allow.
   * @default GET, HEAD, POST, PUT, PATCH, DELETE
   */
  methods?: readonly string[] | undefined
  /**
   * The request fields that preflights allow.
   * @default those for which a preflight asks
   */
  headers?: readonly string[] | undefined
  /**
   * The response fields that scripts may read.
   * @default those that any script may read
   */
  exposeHeaders?: readonly string[] | undefined
  /**
   * Allows cookies and other credentials. It needs named origins.
   * @default false
   */
  credentials?: boolean | undefined
  /**
   * The seconds for which a browser remembers a preflight.
   * @default the browser's own, 5 seconds
   */
  maxAge?: number | undefined
}

/** HeaderRule changes header fields: it removes, then sets, then adds. */
interface HeaderRule extends PathRule {
  /** Fields that replace those of the same name. */
  set?: Readonly<Record<string, string>> | undefined
  /** Fields beside those of the same name. */
  add?: Readonly<Record<string, string>> | undefined
  /** The names of fields to drop. */
  remove?: readonly string[] | undefined
}

/** RequestBodyRule bounds the content of a request. Visitors who send more get 413. */
interface RequestBodyRule extends PathRule {
  /** Bytes, or a text such as `10MB` or `512KiB`. */
  maxSize: number | string
}

/** MockRule answers requests itself. */
interface MockRule extends PathRule {
  /**
   * The method, or several; GET is also HEAD.
   * @default all
   */
  method?: OneOrMore<string> | undefined
  /**
   * From 200 to 599.
   * @default 200
   */
  status?: number | undefined
  /** The fields of the response. Its `Content-Type` is that of text or JSON unless they have one. */
  headers?: Readonly<Record<string, string>> | undefined
  /**
   * The content.
   * @default none
   */
  body?: string | Uint8Array | undefined
  /** The content as a value of JSON, in place of `body`. */
  json?: unknown
}

/** TimeoutRule bounds the time that the handler has. */
interface TimeoutRule extends PathRule {
  /**
   * The seconds until the head of the response, from the request or from the last part of its content that the handler read. Then
   * the visitor gets 504.
   */
  response: number
}
