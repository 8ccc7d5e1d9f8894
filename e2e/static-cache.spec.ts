// The static cache: a page leaves its files with the relay and is closed; curl and another Chromium still get them at the
// canonical hostname, until they expire, or until the page comes back without them.

import { randomBytes } from 'node:crypto'
import { brotliDecompressSync } from 'node:zlib'
import type { Page } from '@playwright/test'
import { curl } from '../tools/programs/curl.ts'
import type { TestRelay } from '../tools/relay/test-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect, relayWith } from './fixtures.ts'
import { expectAccessible } from './support/example-page.ts'

const test = base.extend({
  relay: relayWith({ STATIC_CACHE_ENABLED: 'true' }),
})

/** The text with which curl says that the server ended the handshake with an alert. */
const NO_HANDSHAKE = /curl: \((35|56)\)/
const HTML =
  '<!doctype html><html lang="en"><title>Left behind</title><h1>Still here</h1><script src="/assets/main.js"></script>'
/** It shrinks. */
const SCRIPT: string = `document.title = 'It runs'\n${'// the same line again and again\n'.repeat(2000)}`
const BINARY: Buffer = randomBytes(300_000)
const FILES: Readonly<Record<string, Buffer>> = {
  'assets/main.js': Buffer.from(SCRIPT),
  'data.bin': BINARY,
  'empty.txt': Buffer.alloc(0),
  'grüße & mehr.txt': Buffer.from('hallo'),
  'index.html': Buffer.from(HTML),
}

interface Left {
  url: string
  canonicalUrl: string
}

/** Publishes with the files, and waits until the relay has stored them. What the handler is asked for counts in `asked`. */
async function publishFiles(page: Page, relay: TestRelay, name: string, ttl = 3600): Promise<Left> {
  const files = Object.entries(FILES).map(([path, content]) => [path, content.toString('base64')])
  return page.evaluate(
    async ([relayUrl, name, ttl, files]) => {
      const asked: string[] = []
      const site = await svc.publish({
        relay: relayUrl,
        name,
        fetch: async (request) => {
          asked.push(`${request.method} ${new URL(request.url).pathname} ${await request.text()}`)
          return new Response(`live: ${asked.at(-1)}`)
        },
        cache: {
          files: new Map(
            files.map(([path, content]) => [path!, Uint8Array.from(atob(content!), (c) => c.charCodeAt(0))]),
          ),
          ttl,
        },
      })
      Object.assign(globalThis, { asked, site })
      while (!site.cache?.present) await new Promise((resolve) => setTimeout(resolve, 20))
      return { url: site.url, canonicalUrl: site.canonicalUrl }
    },
    [relay.url, name, ttl, files] as const,
  )
}

function urlOf({ canonicalUrl }: Left, path: string): string {
  return `${canonicalUrl}/${path.split('/').map(encodeURIComponent).join('/')}`
}

/** Names of fields are in lower case, as HTTP/2 has them. */
async function headOf(relay: TestRelay, ...args: string[]): Promise<string> {
  const head = String(await curl(relay.caFile, '--output', '/dev/null', '--dump-header', '-', ...args))
  return head.replace(/^[\w-]+:/gm, (name) => name.toLowerCase())
}

test('a page leaves: curl and another browser get every file, at the canonical hostname alone', async ({
  relay,
  tenant,
  visitor,
}) => {
  const left = await publishFiles(tenant, relay, 'cache-left')
  await tenant.close({ runBeforeUnload: true })
  // The friendly name is the page's alone.
  await expect.poll(() => curl(relay.caFile, left.url).then(String, String)).toMatch(NO_HANDSHAKE)
  for (const [path, content] of Object.entries(FILES))
    expect((await curl(relay.caFile, urlOf(left, path))).equals(content), path).toBe(true)
  // The certificate is this hostname's alone, so that HTTP/2 is offered.
  const version = ['--http2', '--write-out', ' %{http_version}']
  expect(String(await curl(relay.caFile, ...version, left.canonicalUrl))).toBe(`${HTML} 2`)
  expect(String(await curl(relay.caFile, `${left.canonicalUrl}/a/route/of/the/app`))).toBe(HTML)

  await visitor.goto(left.canonicalUrl)
  await expect(visitor.getByRole('heading')).toHaveText('Still here')
  await expect(visitor).toHaveTitle('It runs')
  await expect(visitor.goto(left.url)).rejects.toThrow('ERR_SSL_UNRECOGNIZED_NAME_ALERT')
})

wholeOnly(test, 'variant')(
  'validators, ranges, HEAD and compressed forms are the relay’s',
  async ({ relay, tenant }) => {
    const left = await publishFiles(tenant, relay, 'cache-http')
    await tenant.close({ runBeforeUnload: true })
    const binary = urlOf(left, 'data.bin')
    const head = await headOf(relay, '--head', binary)
    expect(head).toMatch(/^HTTP\/\S+ 200/)
    expect(head).toContain(`content-length: ${BINARY.length}\r\n`)
    expect(head).toContain('cache-control: no-cache\r\n')
    const [, etag = ''] = /^etag: (.*)\r$/m.exec(head) ?? []
    expect(await headOf(relay, '--header', `If-None-Match: ${etag}`, binary)).toMatch(/^HTTP\/\S+ 304/)
    expect(await curl(relay.caFile, '--range', '1000-1999', binary)).toEqual(BINARY.subarray(1000, 2000))
    expect(await curl(relay.caFile, '--range', '-100', binary)).toEqual(BINARY.subarray(-100))
    expect(await headOf(relay, '--range', `${BINARY.length}-`, binary)).toMatch(/^HTTP\/\S+ 416/)

    const script = urlOf(left, 'assets/main.js')
    const asked = ['--header', 'Accept-Encoding: br', script]
    // The relay makes the compressed forms after the upload.
    await expect.poll(() => headOf(relay, ...asked).catch(String)).toContain('content-encoding: br')
    const compressed = await curl(relay.caFile, ...asked)
    expect(compressed.length).toBeLessThan(SCRIPT.length / 10)
    expect(String(brotliDecompressSync(compressed))).toBe(SCRIPT)
    expect(await headOf(relay, script)).not.toContain('content-encoding')
  },
)

wholeOnly(test, 'variant')(
  'while the page is open, it answers what the files do not',
  async ({ relay, tenant }) => {
    const left = await publishFiles(tenant, relay, 'cache-live')
    expect(String(await curl(relay.caFile, left.canonicalUrl))).toBe(HTML)
    const answer = String(await curl(relay.caFile, '--data', 'a body', `${left.canonicalUrl}/form`))
    expect(answer).toBe('live: POST /form a body')
    // The page reads the body, and so says 100, once.
    const expecting = ['--http1.1', '--header', 'Expect: 100-continue', '--expect100-timeout', '30']
    const heads = await headOf(relay, ...expecting, '--data', 'more', `${left.canonicalUrl}/form`)
    expect(heads.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200'])
    const missing = String(await curl(relay.caFile, `${left.canonicalUrl}/missing.png`))
    expect(missing).toBe('live: GET /missing.png ')
    // The friendly name has nothing but the page, also for what the relay has stored.
    expect(String(await curl(relay.caFile, left.url))).toBe('live: GET / ')
    expect(await tenant.evaluate('asked')).toEqual([
      'POST /form a body',
      'POST /form more',
      'GET /missing.png ',
      'GET / ',
    ])
  },
)

wholeOnly(test, 'appearance')(
  'what the files do not answer, when the page is away, is said on a page that passes axe-core',
  async ({ relay, tenant, visitor }) => {
    const left = await publishFiles(tenant, relay, 'cache-away')
    await tenant.close({ runBeforeUnload: true })
    await expect
      .poll(() => headOf(relay, '--data', 'x', left.canonicalUrl).catch(String))
      .toMatch(/^HTTP\/\S+ 503/)
    const response = await visitor.goto(`${left.canonicalUrl}/missing.html`)
    expect(response?.status()).toBe(404)
    await expect(visitor.getByRole('heading')).toHaveText('This site is away')
    await expectAccessible(visitor)
  },
)

wholeOnly(test, 'variant')(
  'the relay keeps the files no longer than the site said',
  async ({ relay, tenant }) => {
    const left = await publishFiles(tenant, relay, 'cache-expiry', 3)
    await tenant.close({ runBeforeUnload: true })
    const answers: string[] = []
    const visit = async (): Promise<string> => {
      answers.push(await curl(relay.caFile, left.canonicalUrl).then(String, String))
      return answers.at(-1)!
    }
    await expect.poll(visit).toMatch(NO_HANDSHAKE)
    expect(answers.slice(0, -1).filter((answer) => answer !== HTML)).toEqual([])
  },
)

test('a page that comes back without them removes them', async ({ relay, tenant }) => {
  const left = await publishFiles(tenant, relay, 'cache-removed')
  await tenant.reload()
  expect(String(await curl(relay.caFile, left.canonicalUrl))).toBe(HTML)
  const again = await tenant.evaluate(
    async ([relayUrl, name]) => {
      const site = await svc.publish({ relay: relayUrl, name, fetch: () => new Response('live again') })
      return { url: site.url, canonicalUrl: site.canonicalUrl }
    },
    [relay.url, 'cache-removed'] as const,
  )
  expect(again).toEqual(left)
  expect(String(await curl(relay.caFile, left.canonicalUrl))).toBe('live again')
})
