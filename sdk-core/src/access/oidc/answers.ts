// The answers to visitors whose sign-in at the issuer leads to no session.

import { escapeHtml } from '@svc/protocol/documents'
import type { VisitorUser } from '../../exchange/fetch-handler.ts'
import { withCookies } from '../../handlers/cookies.ts'
import { pageAnswer } from '../../handlers/sessions/page.ts'
import { GUESS_RETRY_S, OIDC_PATH } from '../answers.ts'

/** The sign-in did not begin in this browser, is too old, or was finished before. */
export function notBegun(request: Request): Response {
  return problem(request, 400, 'This sign-in did not begin in this browser, has taken too long, or is over.')
}

export function tooMany(request: Request): Response {
  const text = 'There were too many attempts to sign in. Wait a little, and try again.'
  return problem(request, 429, text, { headers: { 'Retry-After': `${GUESS_RETRY_S}` } })
}

/** @param user undefined when the issuer says of nobody who it is */
export function notAllowed(
  request: Request,
  user: VisitorUser | undefined,
  cookies: readonly string[],
): Response {
  const name = user?.email ?? user?.name ?? user?.subject
  const who = name === undefined ? 'You are' : `You are signed in as ${name}, and`
  const text = `${who} not among the visitors who the owner of this site lets in.`
  const hint = user?.email === undefined ? ' The issuer has verified no e-mail address of yours.' : ''
  const link = { path: `${OIDC_PATH}?other`, text: 'Sign in with another account' }
  return problem(request, 403, text + hint, { cookies, link })
}

/** The issuer refused, such as when the visitor did not agree, or the code is used or expired. */
export function refused(request: Request, error: unknown, cookies: readonly string[]): Response {
  const { error: code } = error as { error?: unknown }
  const shown = typeof code === 'string' && /^[a-z_]{1,50}$/.test(code) ? ` (${code})` : ''
  return problem(request, 403, `The sign-in was refused${shown}.`, { cookies })
}

export function unanswered(request: Request, cookies: readonly string[]): Response {
  const text = 'The sign-in failed: this site got no answer that it can trust. Its owner has been told why.'
  return problem(request, 502, text, { cookies })
}

/** Returns the page of a visitor who is signed out here, and goes on to sign out of the issuer. */
export function signingOutThere(request: Request, location: string): Response {
  const title = `You are signed out of ${new URL(request.url).host}`
  const main = `<h1>${escapeHtml(title)}</h1>
<p><a class="action" href="${escapeHtml(location)}">Sign out of ${escapeHtml(new URL(location).host)} too</a></p>`
  // A redirect would be blocked: the form that was sent may lead to this origin alone.
  return pageAnswer(200, { title, main }, { Refresh: `0; url=${location}` })
}

interface Problem {
  cookies?: readonly string[]
  headers?: Readonly<Record<string, string>>
  link?: { path: string; text: string }
}

function problem(
  request: Request,
  status: number,
  text: string,
  { cookies = [], headers = {}, link = { path: OIDC_PATH, text: 'Sign in again' } }: Problem = {},
): Response {
  const { host } = new URL(request.url)
  const main = `<h1>${escapeHtml(host)}</h1>
<p class="problem" role="alert">${escapeHtml(text)}</p>
<p><a class="action" href="${link.path}">${escapeHtml(link.text)}</a></p>`
  // The address of the page has the code, which no other site may learn.
  const fields = { 'Referrer-Policy': 'no-referrer', ...headers }
  return withCookies(pageAnswer(status, { title: `Sign in to ${host}`, main }, fields), cookies)
}
