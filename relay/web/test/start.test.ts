// The page of `npm start`: which browser reads it, and whether that trusts the relay.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { thisBrowser } from '../src/authority/this-browser.ts'
import { lookForTrust } from '../src/start/trust.ts'
import { AUTHORITY } from '../src/texts/authority.ts'

const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) '
const ANDROID = 'Mozilla/5.0 (Linux; Android 15; Pixel 9)'

test.each([
  [
    'chrome',
    'linux',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  ],
  [
    'chrome',
    'windows',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
  ],
  ['chrome', 'macos', `${MAC}537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36`],
  ['safari', 'macos', `${MAC}605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15`],
  ['safari', 'ios', `${MAC}605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15`, 5],
  ['safari', 'ios', `${IPHONE}Version/18.5 Mobile/15E148 Safari/604.1`, 5],
  ['chrome', 'ios', `${IPHONE}CriOS/140.0.7339.39 Mobile/15E148 Safari/604.1`, 5],
  ['firefox', 'ios', `${IPHONE}FxiOS/143.0 Mobile/15E148 Safari/605.1.15`, 5],
  ['firefox', 'firefox', 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0'],
  ['firefox', 'firefox', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0'],
  [
    'chrome',
    'android',
    `${ANDROID} AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36`,
    5,
  ],
  ['firefox', 'android', 'Mozilla/5.0 (Android 15; Mobile; rv:143.0) Gecko/143.0 Firefox/143.0', 5],
])('%s, with the steps for %s: %s', (browser, steps, userAgent, touchPoints = 0) => {
  expect(thisBrowser(userAgent, touchPoints)).toEqual({ browser, steps })
  expect(AUTHORITY.systems('a CA').map(({ id }) => id)).toContain(steps)
})

describe('trust', () => {
  const listen = async (): Promise<[Server, string]> => {
    const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return [server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`]
  }
  const nobody = async (): Promise<string> => {
    const [server, url] = await listen()
    server.close()
    return url
  }
  /** The page's own server; a path leads to it. */
  const at = (origin: string): void => {
    const { fetch } = globalThis
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => fetch(new URL(url, origin), init))
    onTestFinished(() => void vi.unstubAllGlobals())
  }

  test('trusted: the site answers', async () => {
    const [, site] = await listen()
    at(await nobody())
    expect(await lookForTrust({ relay: site, secure: site, plain: await nobody() })).toBe('trusted')
  })

  test('untrusted: it does not, and plain HTTP does at its name', async () => {
    const [, own] = await listen()
    at(own)
    expect(await lookForTrust({ relay: own, secure: await nobody(), plain: own })).toBe('untrusted')
  })

  test('unresolved: neither does', async () => {
    const [, own] = await listen()
    at(own)
    const url = await nobody()
    expect(await lookForTrust({ relay: own, secure: url, plain: url })).toBe('unresolved')
  })

  test('gone: the page’s own server does not answer', async () => {
    const url = await nobody()
    at(url)
    expect(await lookForTrust({ relay: url, secure: url, plain: url })).toBe('gone')
  })
})

test('a CA in a file that is at hand is not downloaded', () => {
  for (const { steps } of AUTHORITY.systems('a CA', '/home/me/ca.pem'))
    for (const step of steps)
      if (typeof step !== 'string') expect(step.code).toMatch(/ \/home\/me\/ca\.pem(?: |$)/)
})
