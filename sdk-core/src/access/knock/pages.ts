// What visitors see who knock: pages without a script for browsers, and lines of text for programs.

import { escapeHtml } from '@svc/protocol/documents'
import { withCookies } from '../../handlers/cookies.ts'
import { textAnswer } from '../../handlers/sessions/answers.ts'
import { isNavigation } from '../../handlers/sessions/origin-checks.ts'
import { pageAnswer } from '../../handlers/sessions/page.ts'
import { ACCESS_PATH, formChallenge } from '../answers.ts'
import { AGAIN_S, CROWDED_AGAIN_S, WAIT_MAX_S } from './limits.ts'

/** The path of the button, and of the check whether the browser keeps the cookie. */
export const KNOCK_PATH: string = `${ACCESS_PATH}/knock`

export interface Asked {
  request: Request
  origin: string
  /** Whether visitors may also sign in with a password. */
  canSignIn: boolean
}

/** What a visitor is told. */
interface Notice {
  status: number
  title: string
  /** The sentences of the page, as HTML. */
  text: string
  headers?: Record<string, string>
  cookie?: string | undefined
}

/** Returns the first page. Its browser asks again at a path where it shows whether it keeps the cookie. */
export function firstPage(asked: Asked, next: string, cookie: string): Response {
  const url = checkUrl(asked.origin, next)
  const text = `<p role="status">The owner of this site lets visitors in one by one, and is asked now.</p>
<p><a href="${escapeHtml(url)}">Go on</a> if this page does not do so by itself.</p>`
  return page(asked, {
    ...unanswered(asked, 'Asking to come in', text),
    headers: again(AGAIN_S, url),
    cookie,
  })
}

/** Returns the address at which a browser shows whether it keeps the cookie. */
export function checkUrl(origin: string, next: string): string {
  return `${origin}${KNOCK_PATH}?${new URLSearchParams({ next })}`
}

/** Returns the page of a visitor who waits. */
export function waitingPage(asked: Asked, code: string): Response {
  const text = `<p role="status">The owner of this site has been asked whether you may come in. This page opens by itself.</p>
<div class="box">
<p>Your number is <strong>${code}</strong>. The owner sees it too: tell it, and the owner knows that it is you.</p>
</div>
<p class="quiet">The owner also sees your address, your browser, and the path that you asked for. Close this page to leave.</p>`
  return page(asked, { ...unanswered(asked, 'Waiting for an answer', text), headers: again(AGAIN_S) })
}

/** Returns the page of a visitor for whom there is no place. */
export function crowdedPage(asked: Asked): Response {
  const text =
    '<p role="status">Many visitors wait for an answer. This page asks by itself as soon as there is a place.</p>'
  return page(asked, { ...unanswered(asked, 'Waiting for a place', text), headers: again(CROWDED_AGAIN_S) })
}

/** Returns the page of a visitor whose time is over. */
export function unansweredPage(asked: Asked, cookie: string): Response {
  const text =
    '<p>The owner has not answered. The owner may be away.</p>\n<p>Load this page again to ask again.</p>'
  return page(asked, { ...unanswered(asked, 'No answer', text), cookie })
}

export function cookiesNeeded(asked: Asked): Response {
  const text =
    '<p>Your browser did not keep a cookie of this site. Without it, an answer would not be for you alone.</p>'
  return page(asked, { status: 403, title: 'Cookies are needed', text })
}

/** Returns the answer to a visitor who was refused. It is the same for one that may ask again. */
export function refused(asked: Asked): Response {
  if (!isNavigation(asked.request)) return textAnswer(403, 'The owner of this site did not let you in')
  return page(asked, {
    status: 403,
    title: 'Not let in',
    text: '<p>The owner of this site did not let you in.</p>',
  })
}

/** Returns the answer to a program that does not wait, or waited for nothing. */
export function programAnswer(asked: Asked, cookie?: string, code?: string): Response {
  const text =
    code === undefined
      ? `The owner of this site lets visitors in one by one. Ask with the field Prefer: wait=${WAIT_MAX_S}, or open ${asked.origin}/ in a browser`
      : `The owner of this site has not answered yet. Your number is ${code}`
  return withCookies(textAnswer(401, text, formChallenge(asked.origin)), cookie === undefined ? [] : [cookie])
}

/** Returns the answer to a program for which there is no place. */
export function programCrowded(): Response {
  return textAnswer(429, 'Many visitors wait for an answer. Try again', {
    'Retry-After': String(CROWDED_AGAIN_S),
  })
}

function unanswered({ origin }: Asked, title: string, text: string): Notice {
  return { status: 401, title: `${title} – ${new URL(origin).host}`, text }
}

function again(seconds: number, url?: string): Record<string, string> {
  return { Refresh: url === undefined ? String(seconds) : `${seconds}; url=${url}` }
}

function page({ origin, canSignIn }: Asked, { status, title, text, headers, cookie }: Notice): Response {
  const signIn = canSignIn ? `<p><a class="action plain" href="${ACCESS_PATH}">Sign in</a></p>` : ''
  const main = `<h1>${escapeHtml(title)}</h1>\n${text}\n${signIn}`
  const fields = status === 401 ? { ...formChallenge(origin), ...headers } : headers
  return withCookies(pageAnswer(status, { title, main }, fields), cookie === undefined ? [] : [cookie])
}
