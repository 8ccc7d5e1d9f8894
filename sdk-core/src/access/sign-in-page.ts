// The page on which visitors sign in with a password, and out.

import { escapeHtml } from '@svc/protocol/documents'
import { pageAnswer } from '../handlers/sessions/page.ts'
import { ACCESS_PATH, formChallenge, OIDC_PATH } from './answers.ts'
import type { Credentials } from './credentials.ts'
import { PAGE_SCRIPT } from './page-script.ts'

/** The fields of the form. */
export const FIELDS = { user: 'user', password: 'password', next: 'next' } as const

interface SignInPage {
  /** The status, 401 by default. */
  status?: number
  /** The path to which the visitor goes afterwards. */
  next: string
  /** What was wrong with the last attempt. */
  problem?: string
  headers?: Readonly<Record<string, string>>
  /** The host of the issuer of OpenID Connect at which visitors can sign in. */
  issuer?: string | undefined
}

/** Returns the page in place of one that the visitor may not see, or again after a wrong password. */
export function signInPage(
  request: Request,
  credentials: Credentials,
  { status = 401, next, problem = '', headers = {}, issuer }: SignInPage,
): Response {
  const { origin, host } = new URL(request.url)
  const title = `Sign in to ${host}`
  const mainAttributes = ` data-base="${ACCESS_PATH}" data-next="${escapeHtml(next)}"`
  const main = `<h1>${escapeHtml(title)}</h1>
<p>This site is for visitors who its owner lets in.</p>
<p id="state" class="state" role="status"></p>
<p id="problem" class="problem" role="alert">${escapeHtml(problem)}</p>
${formOf(credentials, next)}${issuer === undefined ? '' : linkTo(issuer, next)}
${credentials.canKnock ? knockForm(next) : ''}`
  const fields = status === 401 ? { ...formChallenge(origin), ...headers } : headers
  return pageAnswer(status, { title, main, mainAttributes, script: PAGE_SCRIPT }, fields)
}

/** Returns the page of a visitor who is signed in. @param next the path at which the site goes on */
export function signedInPage(request: Request, next: string): Response {
  const title = `You are signed in to ${new URL(request.url).host}`
  const main = `<h1>${escapeHtml(title)}</h1>
<p><a class="action" href="${escapeHtml(new URL(request.url).origin + next)}">Go on to the site</a></p>
<form method="post" action="${ACCESS_PATH}/sign-out"><button class="plain">Sign out</button></form>`
  return pageAnswer(200, { title, main })
}

/** A site for one visitor without a password has the button alone, and one for programs no form. */
function formOf({ hasPasswords, hasUsers, hasBearer, areNone }: Credentials, next: string): string {
  if (hasPasswords) return form(next, hasUsers)
  if (hasBearer) return '<p>Programs come in with a token.</p>'
  if (!areNone) return ''
  return `<form method="post" action="${ACCESS_PATH}/sign-in">
<p>This site is for one visitor: the first who goes on.</p>
<input type="hidden" name="${FIELDS.next}" value="${escapeHtml(next)}">
<button>Go on to the site</button>
</form>`
}

function linkTo(issuer: string, next: string): string {
  const query = new URLSearchParams({ [FIELDS.next]: next })
  return `<p><a class="action plain" href="${OIDC_PATH}?${escapeHtml(String(query))}">Sign in with ${escapeHtml(issuer)}</a></p>`
}

function form(next: string, hasUsers: boolean): string {
  const user = `<label>User name<input name="${FIELDS.user}" autocomplete="username" autocapitalize="none" spellcheck="false" autofocus></label>`
  return `<form method="post" action="${ACCESS_PATH}/sign-in">
${hasUsers ? user : ''}
<label>Password<input name="${FIELDS.password}" type="password" autocomplete="current-password" required${hasUsers ? '' : ' autofocus'}></label>
<input type="hidden" name="${FIELDS.next}" value="${escapeHtml(next)}">
<button>Sign in</button>
</form>`
}

function knockForm(next: string): string {
  const action = `${ACCESS_PATH}/knock?${new URLSearchParams({ next })}`
  return `<form method="post" action="${escapeHtml(action)}">
<button class="plain">Ask the owner to let you in</button>
</form>`
}
