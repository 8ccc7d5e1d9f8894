// The documents that the relay and the SDKs write themselves, without a relay or a site.
import type { Page } from '@playwright/test'
import { renderGoPage } from '../../relay/src/core/go/go-page.ts'
import { awayAnswer } from '../../relay/src/features/away-page/away-document.ts'
import { awayAnswer as cacheAnswer } from '../../relay/src/features/static-cache/server/away-page.ts'
import { type Asked, waitingPage } from '../../sdk-core/src/access/knock/pages.ts'
import { signInPage } from '../../sdk-core/src/access/sign-in-page.ts'
import { files } from '../../sdk-core/src/handlers/files.ts'
import { checkoutPage } from '../../sdk-core/src/handlers/paid/checkout-page.ts'
import { signInPage as walletPage } from '../../sdk-core/src/handlers/wallet/sign-in-page.ts'
import { maintenancePage } from '../../sdk-core/src/rules/answers.ts'

const ORIGIN = 'https://a-site-with-quite-a-long-name-4821.relay.example'

export interface Answer {
  body: string
  headers: Record<string, string>
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

function html(body: string, policy: string): Answer {
  return { body, headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy } }
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
  const shared = new Map(
    [`${'long name '.repeat(20)}.txt`, 'image.png', 'folder/a', `${'x'.repeat(200)}.bin`].map((name) => [
      name,
      new File(['text'], name, { lastModified: Date.UTC(2026, 0, 2) }),
    ]),
  )
  const serve = files(shared, { listing: true, archive: true })
  const ask = (path: string): Promise<Answer> => sent(serve(request(path), {} as never))
  const credentials = { hasPasswords: true, hasUsers: true, hasBearer: false, areNone: false, canKnock: true }
  const maintenance = maintenancePage({ text: 'Back soon', retryAfter: 60 } as never, 'text/html')
  const price = { amount: '0.05', requirements: { network: 'sui:testnet', payTo: `0x${'ab'.repeat(32)}` } }
  return {
    go: html(go.html, go.policy),
    away: html(body, /Content-Security-Policy: (.*)\r/.exec(head)?.[1] ?? ''),
    cache: { body: cache.body, headers: cache.headers },
    signIn: await sent(signInPage(request(), credentials as never, { next: '/', issuer: 'issuer.example' })),
    wallet: await sent(walletPage(request(), undefined)),
    knock: await sent(waitingPage(asked, '4711')),
    checkout: html(checkoutPage(price as never), "frame-ancestors 'none'"),
    maintenance: { body: String(maintenance.text), headers: Object.fromEntries(maintenance.fields) },
    listing: await ask('/'),
    folder: await ask('/folder/'),
    text: await ask(`/${encodeURIComponent([...shared.keys()][0] ?? '')}?view`),
    empty: await sent(files([], { listing: true })(request(), {} as never)),
  }
}

/** Opens one as its site's. @returns what the browser says of its policy */
export async function openDocument(page: Page, { body, headers }: Answer): Promise<string[]> {
  const said: string[] = []
  page.on('console', (message) => said.push(message.text()))
  await page.route(`${ORIGIN}/**`, async (route) => {
    if (route.request().isNavigationRequest()) await route.fulfill({ body, headers })
    else await route.abort()
  })
  await page.goto(ORIGIN)
  return said.filter((text) => /content security policy/i.test(text))
}
