// A scripted browser: it keeps cookies, and follows redirects between a site and its issuer one by one.

import type { Answer, Fields } from '../../support/guarded-site.ts'
import { type AccessSite, from, NAVIGATION } from '../access-site.ts'

interface Page extends Answer {
  /** The address of the page. */
  url: URL
}

export class Browser {
  readonly #site: AccessSite
  readonly #fields: Fields
  /** The cookies of the site, by name. */
  readonly cookies = new Map<string, string>()
  readonly #ofIssuer = new Map<string, string>()

  constructor(site: AccessSite, address = '192.0.2.1') {
    this.#site = site
    this.#fields = { ...NAVIGATION, ...from(address) }
  }

  /** Asks for one address, and follows nothing. */
  async ask(
    address: string | URL,
    options: { method?: string; headers?: Fields; body?: string } = {},
  ): Promise<Page> {
    const url = new URL(address, this.#site.origin)
    const isSite = url.origin === this.#site.origin
    const jar = isSite ? this.cookies : this.#ofIssuer
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
    const headers = { ...(cookie !== '' && { Cookie: cookie }), ...options.headers }
    const answer = isSite
      ? await this.#site.ask(url.pathname + url.search, {
          ...options,
          headers: { ...this.#fields, ...headers },
        })
      : await askIssuer(url, headers)
    for (const set of answer.headers.getSetCookie()) {
      const [pair = '', ...attributes] = set.split('; ')
      const [name = '', ...value] = pair.split('=')
      if (attributes.includes('Max-Age=0') || value.join('') === '') jar.delete(name)
      else jar.set(name, value.join('='))
    }
    return { ...answer, url }
  }

  /** Opens a page, and follows redirects until `isEnd` says of the next address that it is enough. */
  async open(address: string | URL, isEnd: (next: URL) => boolean = () => false): Promise<Page> {
    let page = await this.ask(address)
    for (let next = nextOf(page); next && !isEnd(next); next = nextOf(page)) page = await this.ask(next)
    return page
  }

  /** Opens a page of the site, and signs in as `account` when the issuer asks. */
  async signIn(account: string, address: string | URL = '/'): Promise<Page> {
    const page = await this.open(address)
    return page.url.pathname.startsWith('/choose/') ? this.open(`${page.url}/${account}`) : page
  }

  /** Signs in up to the address to which the issuer sends the visitor back. */
  async callbackFor(account: string, address: string | URL = '/'): Promise<URL> {
    const isCallback = (next: URL): boolean => next.pathname.endsWith('/callback')
    const chosen = await this.open(address, isCallback)
    const last = nextOf(chosen) ? chosen : await this.open(`${chosen.url}/${account}`, isCallback)
    return nextOf(last)!
  }

  /** Sends a form of the site. */
  post(path: string, fields: Record<string, string> = {}): Promise<Page> {
    return this.ask(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: this.#site.origin },
      body: String(new URLSearchParams(fields)),
    })
  }
}

function nextOf({ status, headers, url }: Page): URL | undefined {
  const location = headers.get('location')
  return status >= 300 && status < 400 && location !== null ? new URL(location, url) : undefined
}

async function askIssuer(url: URL, headers: Fields): Promise<Answer> {
  const response = await fetch(url, { headers: headers as Record<string, string>, redirect: 'manual' })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
