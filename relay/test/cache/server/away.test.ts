// Tests which requests go to the live site, and the answers while the site is away.

import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { afterEach, describe, expect, test } from 'vitest'
import { curl } from '../../../../tools/programs/curl.ts'
import type { LiveSites } from '../../../src/features/static-cache/live-site/live-sites.ts'
import { newLease } from '../../support/lease.ts'
import { type CachedSite, HOSTNAME, NO_LIVE_SITE, received, startCachedSite } from './cached-site.ts'

let site: CachedSite
afterEach(() => site.close())

async function start(live: LiveSites = NO_LIVE_SITE): Promise<void> {
  site = await startCachedSite({ live })
  await site.snapshots.put({ 'index.html': 'stored' })
}

async function ask(
  method: string,
  path: string,
  ...fields: string[]
): Promise<{ head: string; body: string }> {
  const visitor = await site.tls()
  visitor.write(
    [`${method} ${path} HTTP/1.1`, `Host: ${HOSTNAME}`, 'Connection: close', ...fields, '', ''].join('\r\n'),
  )
  const [head = '', ...body] = (await received(visitor)).toString('latin1').split('\r\n\r\n')
  return { head, body: body.join('\r\n\r\n') }
}

describe('while the site is away (protocol §15.2.5)', () => {
  test('a browser gets a page that loads nothing and runs nothing', async () => {
    await start()
    const { head, body } = await ask('GET', '/app.js', 'Accept: text/html,application/xhtml+xml,*/*;q=0.8')
    expect(head).toMatch(/^HTTP\/1.1 404 /)
    expect(head).toMatch(/Content-Type: text\/html; charset=utf-8/)
    expect(head).toMatch(/Cache-Control: no-store/)
    const style = /<style>([\s\S]*)<\/style>/.exec(body)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(head).toContain(`Content-Security-Policy: default-src 'none'; style-src 'sha256-${hash}';`)
    expect(body).toMatch(
      /<html lang="en">[\s\S]*<title>This site is away<\/title>[\s\S]*<h1>This site is away<\/h1>/,
    )
    expect(body).not.toMatch(/<script|https?:|<link|<img|\son\w+=/)
  })

  test.each(['*/*', 'application/json', 'text/html;q=0', 'text/html; q=0.0, */*'])(
    'a program that accepts %s gets plain text',
    async (accept) => {
      await start()
      const { head, body } = await ask('GET', '/app.js', `Accept: ${accept}`)
      expect(head).toMatch(/Content-Type: text\/plain; charset=utf-8/)
      expect(body).toMatch(/^This site is away\.\n/)
    },
  )

  test('HEAD has no body', async () => {
    await start()
    const { head, body } = await ask('HEAD', '/app.js')
    expect(head).toMatch(/^HTTP\/1.1 404 [\s\S]*Content-Length: \d{2,}/)
    expect(body).toBe('')
  })

  test('a lease whose sessions do not come is as none', async () => {
    await start()
    site.snapshots.lease = newLease()
    expect((await ask('GET', '/app.js')).head).toMatch(/^HTTP\/1.1 404 /)
    expect((await ask('DELETE', '/')).head).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 30/)
    expect(site.results).toEqual(['away', 'away'])
  })

  test('a path that is not UTF-8 goes to the live site while there is one', async () => {
    const paths: (string | undefined)[] = []
    await start({
      ...NO_LIVE_SITE,
      forward: async ({ url }, response) => {
        paths.push(url)
        ;(response as ServerResponse).end('live')
        return true
      },
    })
    expect((await ask('GET', '/%E9')).head).toMatch(/^HTTP\/1.1 400 /)
    site.snapshots.lease = newLease()
    expect(await ask('GET', '/%E9')).toMatchObject({ body: 'live' })
    expect(paths).toEqual(['/%E9'])
  })

  test('a WebSocket is refused', async () => {
    await start()
    const { head } = await ask('GET', '/', 'Upgrade: websocket', 'Connection: Upgrade')
    expect(head).toMatch(/^HTTP\/1.1 503 [\s\S]*Connection: close/)
  })

  test('a body that is on its way does not hide the answer', async () => {
    await start()
    const visitor = await site.tls()
    const all = received(visitor)
    visitor.write(`POST / HTTP/1.1\r\nHost: ${HOSTNAME}\r\nContent-Length: 300000\r\n\r\n`)
    visitor.write(Buffer.alloc(300_000))
    expect((await all).toString('latin1')).toMatch(/^HTTP\/1.1 503 /)
  })
})

describe('a visitor who waits for 100 before it sends a body', () => {
  const BODY = Buffer.alloc(2_000_000)
  /** With `sent`, how many bytes of the body it sent. */
  async function upload(...args: string[]): Promise<{ heads: string; sent: number }> {
    const at = `${HOSTNAME}:${site.port}`
    await writeFile(join(site.directory, 'body'), BODY)
    const output = String(
      await curl(
        site.caFile,
        ...['--resolve', `${at}:127.0.0.1`, '--dump-header', '-', '--output', '/dev/null'],
        ...['--header', 'Expect: 100-continue', '--expect100-timeout', '30', '--write-out', '%{size_upload}'],
        ...['--data-binary', `@${join(site.directory, 'body')}`, ...args, `https://${at}/form`],
      ),
    )
    const end = output.lastIndexOf('\r\n')
    return { heads: output.slice(0, end), sent: Number(output.slice(end)) }
  }

  test.each(['--http1.1', '--http2'])(
    '%s gets 503 while the site is away, and has sent nothing',
    async (version) => {
      await start()
      const { heads, sent } = await upload(version)
      expect(heads).toMatch(/^HTTP\/\S+ 503/)
      expect(sent).toBe(0)
    },
  )

  test.each(['--http1.1', '--http2'])('%s gets the file of the path when it says GET', async (version) => {
    await start()
    const { heads, sent } = await upload(version, '--request', 'GET')
    expect(heads).toMatch(/^HTTP\/\S+ 200/)
    expect(sent).toBe(0)
  })

  test.each(['--http1.1', '--http2'])('%s gets 100 when the site says so', async (version) => {
    let received = 0
    await start({
      ...NO_LIVE_SITE,
      forward: async (request, response) => {
        response.writeContinue()
        for await (const chunk of request as IncomingMessage) received += (chunk as Buffer).length
        response.end()
        return true
      },
    })
    site.snapshots.lease = newLease()
    const { heads, sent } = await upload(version)
    expect(heads.match(/^HTTP\/\S+ \d+/gm)?.map((line) => line.slice(-3))).toEqual(['100', '200'])
    expect([sent, received]).toEqual([BODY.length, BODY.length])
  })

  test('a visitor who says so and sends the body at once sees the answer', async () => {
    await start()
    const visitor = await site.tls()
    const all = received(visitor)
    visitor.write(
      `POST / HTTP/1.1\r\nHost: ${HOSTNAME}\r\nExpect: 100-continue\r\nContent-Length: 300000\r\n\r\n`,
    )
    visitor.write(Buffer.alloc(300_000))
    expect((await all).toString('latin1')).toMatch(/^HTTP\/1.1 503 /)
  })
})

describe('while the site is there', () => {
  /** Answers with what it is asked. */
  const LIVE: LiveSites = {
    forward: async (request, response, lease, clientIp) => {
      const http1 = response as ServerResponse
      http1.end(`live ${request.method} ${request.url} ${lease.hostname} ${clientIp}`)
      return true
    },
    upgrade: async (request: IncomingMessage, socket: Duplex, head) => {
      socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${request.url} ${head}`)
      return true
    },
    close: async () => {},
  }

  async function startLive(): Promise<void> {
    await start(LIVE)
    site.snapshots.lease = newLease()
  }

  test('what is not stored, and other methods, are for the site; what is stored is not', async () => {
    await startLive()
    const to = 'demo.relay.localhost 127.0.0.1'
    expect((await ask('GET', '/app.js?x')).body).toContain(`live GET /app.js?x ${to}`)
    expect((await ask('POST', '/')).body).toContain(`live POST / ${to}`)
    expect((await ask('OPTIONS', '*')).body).toContain(`live OPTIONS * ${to}`)
    expect((await ask('GET', '/index.html')).body).toBe('stored')
    expect((await ask('GET', '/some/page')).body).toBe('stored')
    expect(site.results).toEqual(['live', 'live', 'live', 'hit', 'hit'])
  })

  test('over HTTP/2 as well', async () => {
    await startLive()
    const connection = await site.tls({ ALPNProtocols: ['h2'] })
    const session = connectHttp2(`https://${HOSTNAME}`, { createConnection: () => connection })
    const request = session.request({ ':path': '/app.js' })
    expect(Buffer.concat(await request.toArray()).toString()).toMatch(/^live GET \/app\.js /)
    session.close()
  })

  test('a WebSocket is for the site, even at the path of a stored file; another upgrade is none', async () => {
    await startLive()
    const upgrade = await ask('GET', '/index.html', 'Upgrade: WebSocket', 'Connection: Upgrade')
    expect(upgrade.head).toMatch(/^HTTP\/1.1 101 /)
    expect((await ask('GET', '/index.html', 'Upgrade: h2c', 'Connection: Upgrade')).body).toBe('stored')
    const misdirected = await ask(
      'GET',
      'https://relay.localhost/',
      'Upgrade: websocket',
      'Connection: Upgrade',
    )
    expect(misdirected.head).toMatch(/^HTTP\/1.1 421 /)
  })

  test('a site that fails is an error, and the next request is served', async () => {
    await start({ ...NO_LIVE_SITE, forward: async () => Promise.reject(new Error('broken by a test')) })
    site.snapshots.lease = newLease()
    expect((await ask('GET', '/app.js')).head).toMatch(/^HTTP\/1.1 500 /)
    expect((await ask('GET', '/')).body).toBe('stored')
  })
})
