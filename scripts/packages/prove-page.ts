// Opens a built page in Chromium, visits what it publishes, and looks at which of its scripts it loads when.
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import type { BrowserContext } from '@playwright/test'
import { curl } from '../../tools/programs/curl.ts'
import type { TestRelay } from '../../tools/relay/test-relay.ts'
import { type PageServer, servePage } from './page-server.ts'

/** Milliseconds until a page has published, or has said why not. */
const PUBLISH_TIMEOUT_MS = 30_000
/** Milliseconds for the handshake of a WebSocket. */
const UPGRADE_TIMEOUT_MS = 20_000
/** The example key of RFC 6455 §1.3. */
const WEBSOCKET_KEY = 'dGhlIHNhbXBsZSBub25jZQ=='

export interface PageFigures {
  /** The scripts that the browser had loaded when the site was online, and their bytes of gzip. */
  scripts: number
  gzip: number
  /** The scripts that came with the first WebSocket. */
  late: number
}

interface Built {
  name: string
  directory: string
  page: string
}

/** @throws Error that says what the page, or its site, did instead */
export async function provePage(
  { name, directory, page }: Built,
  context: BrowserContext,
  relay: TestRelay,
): Promise<PageFigures> {
  const server = await servePage(directory, page)
  const tab = await context.newPage()
  const errors: string[] = []
  tab.on('pageerror', ({ message }) => errors.push(message))
  tab.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  try {
    const site = name.replace(' ', '-')
    await tab.goto(`${server.url}?relay=${encodeURIComponent(relay.url)}&name=${site}`)
    await tab
      .waitForFunction('document.title !== "…"', undefined, { timeout: PUBLISH_TIMEOUT_MS })
      .catch(() => errors.push('the page published nothing'))
    const title = await tab.title()
    if (!title.startsWith('https:')) throw new Error([title, ...errors].join('\n'))
    return await visit(title, site, server, relay)
  } finally {
    await tab.close()
    server.close()
  }
}

async function visit(url: string, site: string, server: PageServer, relay: TestRelay): Promise<PageFigures> {
  const answer = String(await curl(relay.caFile, url))
  if (answer !== `from ${site}`) throw new Error(`${url} answers ${JSON.stringify(answer)}`)
  const early = new Map(server.scripts)
  const status = await openWebSocket(url, relay.caFile)
  if (status !== 101) throw new Error(`${url} answers ${status} to a WebSocket`)
  const late = server.scripts.size - early.size
  if (late === 0) throw new Error('the code for WebSockets was there before a visitor asked for one')
  const gzip = [...early.values()].reduce((sum, bytes) => sum + bytes, 0)
  return { scripts: early.size, gzip, late }
}

/** @returns the status of the answer */
async function openWebSocket(url: string, caFile: string): Promise<number | undefined> {
  const { hostname, port, host } = new URL(url)
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  const visit = request({
    // The resolver of the machine need not know names below localhost.
    host: '127.0.0.1',
    port,
    servername: hostname,
    ca: readFileSync(caFile),
    timeout: UPGRADE_TIMEOUT_MS,
    headers: {
      Host: host,
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': WEBSOCKET_KEY,
    },
  })
  visit.on('upgrade', (response, socket) => {
    resolve(response.statusCode)
    socket.destroy()
  })
  visit.on('response', (response) => resolve(response.statusCode))
  visit.on('timeout', () => visit.destroy(new Error(`${url} opens no WebSocket`)))
  visit.on('error', reject)
  visit.end()
  return promise
}
