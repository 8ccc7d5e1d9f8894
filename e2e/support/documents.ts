// The documents that the relay and the SDKs write themselves, without a relay or a site.
import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { renderGoPage, renderNoSitePage } from '../../relay/src/core/go/go-page.ts'
import { type ErrorPage, errorPage } from '../../relay/src/core/http/error-page.ts'
import { awayAnswer } from '../../relay/src/features/away-page/away-document.ts'
import { awayAnswer as cacheAnswer } from '../../relay/src/features/static-cache/server/away-page.ts'
import { notice } from '../../sdk-core/src/access/answers.ts'
import { type Asked, refused, unansweredPage, waitingPage } from '../../sdk-core/src/access/knock/pages.ts'
import { signedInPage, signInPage } from '../../sdk-core/src/access/sign-in-page.ts'
import { refusalResponse } from '../../sdk-core/src/exchange/refusal-page.ts'
import { files } from '../../sdk-core/src/handlers/files.ts'
import { lineOrPage } from '../../sdk-core/src/handlers/line-or-page.ts'
import { checkoutPage } from '../../sdk-core/src/handlers/paid/checkout-page.ts'
import { signInPage as walletPage } from '../../sdk-core/src/handlers/wallet/sign-in-page.ts'
import { type Asking, maintenancePage } from '../../sdk-core/src/rules/answers.ts'

const ORIGIN = 'https://a-site-with-quite-a-long-name-4821.relay.example'

const IMAGE = new URL('../../relay/web/public/icon-180.png', import.meta.url)
/** The fields of a navigation. */
const NAVIGATION = [
  ['host', new URL(ORIGIN).host],
  ['accept', 'text/html'],
] as const
/** A navigation, as rules ask about it. */
const ASKING: Asking = {
  url: new URL(ORIGIN),
  field: (name) => (name === 'accept' ? 'text/html' : undefined),
}

export interface Answer {
  body: string
  headers: Record<string, string>
  /** The images of the site. */
  images?: Readonly<Record<string, Buffer>>
}

function request(path = '/'): Request {
  return new Request(`${ORIGIN}${path}`, { headers: { Accept: 'text/html', 'Sec-Fetch-Mode': 'navigate' } })
}

async function sent(response: Response | Promise<Response>): Promise<Answer> {
  const { headers } = await response
  // A page that loads itself again could do so while it is looked at.
  headers.delete('refresh')
  return { body: await (await response).text(), headers: Object.fromEntries(headers) }
}

/** Playwright gives names of fields in lower case, and knows no length. */
function lower({ body, headers }: ErrorPage): Answer {
  const { 'Content-Length': _, ...fields } = headers
  return {
    body,
    headers: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value])),
  }
}

function html(body: string, policy: string): Answer {
  return { body, headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy } }
}

function documentOf({ html: body, policy }: { html: string; policy: string }): Answer {
  return html(body, policy)
}

/** @returns the documents by names */
export async function documents(): Promise<Record<string, Answer>> {
  const asked: Asked = { request: request(), origin: ORIGIN, canSignIn: true }
  const go = renderGoPage({
    absence: 'away',
    target: { label: 'demo', isCanonical: false, rest: '' },
    links: [`${ORIGIN}/go/demo`],
    retryS: 5,
  })
  const [head = '', body = ''] = awayAnswer('demo', ORIGIN, true).split('\r\n\r\n')
  const cache = cacheAnswer({ method: 'GET', headers: { accept: 'text/html' } })
  const image = await readFile(IMAGE)
  const shared = new Map(
    [`${'long name '.repeat(20)}.txt`, 'image.png', 'folder/a', `${'x'.repeat(200)}.bin`].map((name) => [
      name,
      new File([name === 'image.png' ? image : 'text'], name, { lastModified: Date.UTC(2026, 0, 2) }),
    ]),
  )
  const serve = files(shared, { listing: true, archive: true })
  const ask = (path: string): Promise<Answer> => sent(serve(request(path), {} as never))
  const credentials = { hasPasswords: true, hasUsers: true, hasBearer: false, areNone: false, canKnock: true }
  const maintenance = maintenancePage({ text: 'Back soon', retryAfter: 60 } as never, ASKING)
  const price = { amount: '0.05', requirements: { network: 'sui:testnet', payTo: `0x${'ab'.repeat(32)}` } }
  return {
    go: documentOf(go),
    away: html(body, /Content-Security-Policy: (.*)\r/.exec(head)?.[1] ?? ''),
    cache: { body: cache.body, headers: cache.headers },
    goNowhere: documentOf(renderNoSitePage()),
    notFound: await sent(lineOrPage(request(), 404, 'Not found')),
    guesses: await sent(
      notice(request(), 429, 'Too many attempts to sign in. Wait a little, and try again.'),
    ),
    signInWrong: await sent(
      signInPage(request(), { ...credentials, canKnock: false } as never, {
        next: '/',
        problem: 'That is not right.',
      }),
    ),
    signedIn: await sent(signedInPage(request(), '/')),
    knockUnanswered: await sent(unansweredPage(asked, 'a=b')),
    knockRefused: await sent(refused({ ...asked, canSignIn: false })),
    signIn: await sent(signInPage(request(), credentials as never, { next: '/', issuer: 'issuer.example' })),
    wallet: await sent(walletPage(request(), undefined)),
    knock: await sent(waitingPage(asked, '4711')),
    checkout: html(checkoutPage(price as never), "frame-ancestors 'none'"),
    maintenance: { body: String(maintenance.text), headers: Object.fromEntries(maintenance.fields) },
    failed: await sent(refusalResponse({ status: 500, message: 'Internal Server Error' }, NAVIGATION)),
    cookies: await sent(refusalResponse({ status: 431, message: 'head too large' }, NAVIGATION)),
    relayMissing: lower(errorPage(404, 'not found')),
    relayFailed: lower(errorPage(500, 'an unexpected error', '0f6a1b2c3d4e5f60718293a4b5c6d7e8')),
    programs: lower(errorPage(405, '/sdk/register allows POST')),
    listing: { ...(await ask('/')), images: { '/image.png': image } },
    folder: await ask('/folder/'),
    text: await ask(`/${encodeURIComponent([...shared.keys()][0] ?? '')}?view`),
    empty: await sent(files([], { listing: true })(request(), {} as never)),
  }
}

/** Opens one as its site's. @returns what the browser says of its policy */
export async function openDocument(page: Page, { body, headers, images = {} }: Answer): Promise<string[]> {
  const said: string[] = []
  page.on('console', (message) => said.push(message.text()))
  await page.route(`${ORIGIN}/**`, async (route) => {
    const request = route.request()
    const image = images[new URL(request.url()).pathname]
    if (request.isNavigationRequest()) await route.fulfill({ body, headers })
    else if (image !== undefined) await route.fulfill({ body: image, contentType: 'image/png' })
    else await route.abort()
  })
  await page.goto(ORIGIN)
  return said.filter((text) => /content security policy/i.test(text))
}
