// The answers of the sign-in. No cache may store them, and each says what to do.

import { withCookies } from '../cookies.ts'

/** The path of the sign-in page and prefix of its other paths. Requests for them do not reach the handler. */
export const SIGN_IN_PATH = '/.svc/wallet'

/** The fields of each answer, which depends on the visitor's cookie. */
export const UNCACHED: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  Vary: 'Cookie, Accept, Sec-Fetch-Mode',
  'X-Content-Type-Options': 'nosniff',
}

/** Returns an answer in JSON. */
export function jsonAnswer(
  status: number,
  body: object,
  { headers = {}, cookies = [] }: { headers?: Record<string, string>; cookies?: readonly string[] } = {},
): Response {
  const fields = { ...UNCACHED, 'Content-Type': 'application/json', ...headers }
  return withCookies(new Response(JSON.stringify(body), { status, headers: fields }), cookies)
}

/** Returns an error in JSON: `error` is for programs, `message` for people. */
export function errorAnswer(
  status: number,
  error: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return jsonAnswer(status, { error, message }, { headers })
}

/** Returns the field that each 401 must have (RFC 9110 §15.5.2). Browsers do not know the scheme, so they show no dialog. */
export function challengeField(origin: string): Record<string, string> {
  return { 'WWW-Authenticate': `SIWE sign-in="${origin}${SIGN_IN_PATH}"` }
}

/** Returns the answer to a program without a session: JSON if it accepts that, otherwise a line of text. */
export function signInRequired(request: Request, origin: string): Response {
  const link = `${origin}${SIGN_IN_PATH}`
  const message = `This site is for visitors who sign in with a wallet: ${link}`
  const headers = challengeField(origin)
  if (/json/i.test(request.headers.get('accept') ?? ''))
    return jsonAnswer(401, { error: 'unauthorized', message, sign_in: link }, { headers })
  return textAnswer(401, message, headers)
}

/** Returns a line of text. */
export function textAnswer(status: number, text: string, headers: Record<string, string> = {}): Response {
  const fields = { ...UNCACHED, 'Content-Type': 'text/plain; charset=utf-8', ...headers }
  return new Response(`${text}\n`, { status, headers: fields })
}

/** Returns whether a browser will show the answer as a page. */
export function isNavigation(request: Request): boolean {
  const mode = request.headers.get('sec-fetch-mode')
  return mode === null ? /text\/html/i.test(request.headers.get('accept') ?? '') : mode === 'navigate'
}

/** Returns whether, by the browser's fields, a page of another origin made the request. A sibling hostname is another origin. */
export function isForeign(request: Request, origin: string): boolean {
  const from = request.headers.get('origin')
  const site = request.headers.get('sec-fetch-site')
  if (from !== null && from !== 'null') return from !== origin
  // A page that sends no referrer has the origin `null` even in its own forms.
  return site === null ? from === 'null' : site !== 'same-origin' && site !== 'none'
}
