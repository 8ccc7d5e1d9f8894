// Backends as there are: what servers make of a path, and which method frameworks take a request for. Prices, attacks and fuzzing are tried
// against them.

/** @returns the path without its percent-encoding; a server that finds it wrong leaves it as it is */
function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Decodes bytes without a look at whether UTF-8 needs so many (RFC 3629 §10). */
function decodeOverlong(path: string): string {
  return path.replace(/%(c0|c1)%([\da-f]{2})/gi, (_, first, second) =>
    String.fromCharCode(((Number.parseInt(first, 16) & 0x1f) << 6) | (Number.parseInt(second, 16) & 0x3f)),
  )
}

/** Each reads the path of a parsed URL in the way of some servers. */
const READERS: readonly ((path: string) => string)[] = [
  (path) => path,
  decode,
  (path) => decode(decode(path)),
  (path) => decode(path).replaceAll('\\', '/'),
  (path) => path.replace(/;[^/]*/g, ''),
  (path) => decode(path.replace(/;[^/]*/g, '')),
  (path) => decode(path).replace(/;[^/]*/g, ''),
  (path) => decode(path).replace(/\0.*$/, ''),
  // IIS
  (path) =>
    decode(path.replace(/%u([\da-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))),
  decodeOverlong,
  (path) => decode(decodeOverlong(path)),
  // files of Windows: streams, and what may not end a name
  (path) => decode(path).replace(/:[^/]*/g, ''),
  (path) => decode(path).replace(/([^/. ])[. ]+(?=\/|$)/g, '$1'),
  // macOS, and databases that compare by the rules of a language
  (path) => decode(path).replace(/[\u200b-\u200d\u2060\ufeff\u00ad]/g, ''),
  (path) => decode(path).normalize('NFKC'),
  (path) => decode(path).normalize('NFKD').replace(/\p{M}/gu, ''),
  // CGI and PHP: a script gets the rest
  (path) => decode(path).replace(/^\/(?:index|app)\.php(?=\/)/, ''),
]

/** Each makes of a path that was read the one that is looked up. */
const CLEANERS: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => path.replace(/\/+/g, '/'),
  (path) => parsed(path.startsWith('/') ? path : '/'),
  (path) => parsed(`/${path.replace(/^\/+/, '').replace(/\/+/g, '/')}`),
  (path) => path.toLowerCase(),
  (path) => path.toUpperCase().toLowerCase(),
]

function parsed(path: string): string {
  const text = path.replaceAll('?', '%3F').replaceAll('#', '%23')
  return URL.parse(`https://a.example${text}`)?.pathname ?? '/'
}

/** @returns whether some server serves what is at `wanted` (in lower case), or below it, to a request for `path` */
export function leadsTo(path: string, wanted: string): boolean {
  return READERS.some((read) =>
    CLEANERS.some((clean) => {
      const served = clean(read(path)).replace(/\/+$/, '')
      return served === wanted || served.startsWith(`${wanted}/`)
    }),
  )
}

interface Posted {
  method: string
  headers: Headers
  url: URL
  /** The content, as Latin-1. */
  body: string
}

/** Each gives the method for which a framework takes a POST, or undefined. */
const FRAMEWORKS: readonly ((request: Posted) => string | null | undefined)[] = [
  // method-override of Express: the first of a list
  ({ headers }) => headers.get('x-http-method-override')?.split(/ *, */)[0],
  ({ headers }) => headers.get('x-http-method'),
  ({ headers }) => headers.get('x-method-override'),
  ({ url }) => url.searchParams.get('_method'),
  ({ url }) => url.searchParams.get('x-http-method-override'),
  // Rack, Laravel, Symfony
  (request) => formOf(request)?.get('_method'),
  (request) => jsonOf(request),
  // PHP makes names of its variables
  (request) =>
    [...(formOf(request) ?? [])].find(
      ([name]) => name.replace(/^ +/, '').replace(/[ .[]/g, '_') === '_method',
    )?.[1],
  (request) => /name="?_method"?\r\n\r\n([^\r]*)/i.exec(request.body)?.[1],
  // CGI makes one of both spellings
  ({ headers }) => headers.get('x_http_method_override'),
]

/** @returns the methods for which frameworks take a request */
export function methodsOf(request: Posted): Set<string> {
  const others = request.method === 'POST' ? FRAMEWORKS.map((read) => read(request)) : []
  return new Set([request.method, ...others.flatMap((name) => name?.trim().toUpperCase() ?? [])])
}

function formOf({ headers, body }: Posted): URLSearchParams | undefined {
  const isForm = headers.get('content-type')?.startsWith('application/x-www-form-urlencoded')
  return isForm ? new URLSearchParams(body) : undefined
}

function jsonOf({ headers, body }: Posted): string | undefined {
  if (!headers.get('content-type')?.includes('json')) return undefined
  try {
    return JSON.parse(body)._method
  } catch {
    return undefined
  }
}
