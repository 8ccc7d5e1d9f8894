// The answers to visitors who may not come in, or not yet.

import { escapeHtml } from '@svc/protocol/documents'
import { jsonAnswer, textAnswer } from '../handlers/sessions/answers.ts'
import { isNavigation } from '../handlers/sessions/origin-checks.ts'
import { pageAnswer } from '../handlers/sessions/page.ts'
import type { Credentials } from './credentials.ts'

/** The path of the sign-in page and prefix of its other paths. Requests for them do not reach the handler. */
export const ACCESS_PATH = '/.svc/access'

/** The path at which a sign-in at an issuer of OpenID Connect begins, and the one to which the issuer sends visitors back. */
export const OIDC_PATH: string = `${ACCESS_PATH}/oidc`
export const OIDC_CALLBACK_PATH: string = `${OIDC_PATH}/callback`

/** The seconds after which somebody who guessed too often may try again. */
export const GUESS_RETRY_S = 10

/** What everybody reads who comes after the one visitor of a site. */
export const TAKEN = 'This site is for one visitor, who has come already.'

/** Returns the field that each 401 to a browser must have (RFC 9110 §15.5.2). It knows no such scheme, so it shows no dialog. */
export function formChallenge(origin: string): Record<string, string> {
  return { 'WWW-Authenticate': `Form sign-in="${origin}${ACCESS_PATH}"` }
}

/** Returns the answer to a program, or to a script of a page, that may not come in. */
export function unauthorized(request: Request, origin: string, credentials: Credentials): Response {
  const link = `${origin}${ACCESS_PATH}`
  const message = `This site is for visitors who sign in: ${link}`
  const answer = /json/i.test(request.headers.get('accept') ?? '')
    ? jsonAnswer(401, { error: 'unauthorized', message, sign_in: link }, { headers: formChallenge(origin) })
    : textAnswer(401, message, formChallenge(origin))
  // A browser would show its own dialog, over a page whose session has ended.
  if (request.headers.has('sec-fetch-mode')) return answer
  if (credentials.hasPasswords)
    answer.headers.append('WWW-Authenticate', 'Basic realm="site", charset="UTF-8"')
  if (credentials.hasBearer) answer.headers.append('WWW-Authenticate', 'Bearer realm="site"')
  return answer
}

/** Returns an answer that says one thing: as a page to people, as a line of text to others. */
export function notice(
  request: Request,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  if (!isNavigation(request)) return textAnswer(status, text, headers)
  const main = `<h1>${escapeHtml(new URL(request.url).host)}</h1>\n<p>${escapeHtml(text)}</p>`
  return pageAnswer(status, { title: text, main }, headers)
}

/** Returns the answer to somebody who guessed too often. */
export function tooManyGuesses(request: Request): Response {
  const text = 'Too many attempts to sign in. Wait a little, and try again.'
  return notice(request, 429, text, { 'Retry-After': String(GUESS_RETRY_S) })
}
