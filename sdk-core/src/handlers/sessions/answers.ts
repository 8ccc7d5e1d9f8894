// The answers of a sign-in. No cache may store them, and each says what to do.

import { withCookies } from '../cookies.ts'

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

/** Returns a line of text. */
export function textAnswer(status: number, text: string, headers: Record<string, string> = {}): Response {
  const fields = { ...UNCACHED, 'Content-Type': 'text/plain; charset=utf-8', ...headers }
  return new Response(`${text}\n`, { status, headers: fields })
}
