// The page on which visitors sign in with a wallet, and out. It loads nothing, and runs only its own script.

import { escapeHtml } from '@svc/protocol/documents'
import { checksumAddress } from '../../identity/key.ts'
import { SESSION_MS } from '../sessions/limits.ts'
import { pageAnswer } from '../sessions/page.ts'
import { challengeField, SIGN_IN_PATH } from './answers.ts'
import { STATEMENT } from './challenges.ts'
import { CHALLENGE_MS } from './limits.ts'
import { PAGE_SCRIPT } from './page-script.ts'

/**
 * Returns the page: with 401 in place of a page that the visitor may not see, and 200 at the sign-in path.
 * @param address the address of the visitor who is signed in
 */
export function signInPage(request: Request, address: string | undefined): Response {
  const { origin, host, pathname } = new URL(request.url)
  const isWanted = pathname === SIGN_IN_PATH
  const title = `${address === undefined ? 'Sign in to' : 'You are signed in to'} ${host}`
  const mainAttributes = ` data-base="${SIGN_IN_PATH}" data-method="${request.method === 'GET' ? 'GET' : 'other'}"`
  const main = `<h1>${escapeHtml(title)}</h1>
${address === undefined ? signedOutPart(host) : signedInPart(checksumAddress(address))}
<p id="state" class="state" role="status"></p>
<p id="problem" class="problem" role="alert"></p>
<pre id="message" hidden tabindex="0" aria-label="The text that your wallet signs"></pre>`
  const headers = isWanted ? {} : challengeField(origin)
  return pageAnswer(isWanted ? 200 : 401, { title, main, mainAttributes, script: PAGE_SCRIPT }, headers)
}

function signedOutPart(host: string): string {
  return `<p>This site is for visitors whose wallet is on its list. Show that a wallet is yours by signing a message with it.</p>
<ul id="wallets"></ul>
<p id="none" hidden>There is no wallet in this browser. Install one, or open this page in a browser that has one, and load the page again.</p>
<noscript><p>This page needs JavaScript to ask your wallet.</p></noscript>
<p><strong>Signing costs nothing.</strong> It sends no transaction, moves nothing, and gives nobody access to what is in the wallet.</p>
<p class="quiet">The message names <strong>${escapeHtml(host)}</strong>, your account and the time, and says: “${escapeHtml(STATEMENT)}” It is good
for ${CHALLENGE_MS / 60_000} minutes and for one sign-in. Do not sign when your wallet shows the name of another site. You stay signed in for
${SESSION_MS / 3_600_000} hours.</p>`
}

function signedInPart(address: string): string {
  return `<p>Your wallet is ${address}.</p>
<p><a class="action" href="/">Go on to the site</a></p>
<p><button type="button" class="plain" id="sign-out">Sign out</button></p>`
}
