// The relay's own pages: what `svc-relay` serves as it is started from a checkout, and what it says where they are not built.

import { once } from 'node:events'
import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildRelayPages } from '../../../../tools/bundler/relay-pages.ts'
import { type RelayProcess, startRelayProcess } from '../../support/relay-process.ts'

const PACKAGE = resolve(import.meta.dirname, '../../..')
const ADMIN_TOKEN = 'a-long-random-value'

describe('without SVC_SITE_DIR', () => {
  let relay: RelayProcess
  beforeAll(async () => {
    await buildRelayPages()
    relay = await startRelayProcess()
  })
  afterAll(() => relay.close())

  test.each([
    '/',
    '/sites',
    '/sites/',
    '/admin',
    '/admin/',
    '/admin/access',
    `/admin/sites/demo:0x${'ab'.repeat(20)}`,
    '/admin/sites/demo%3A0x12/',
  ])('%s is a page of the relay', async (path) => {
    const { status, text, headers } = await relay.call('GET', path)
    expect([status, text]).toEqual([200, expect.stringContaining('<title>svc</title>')])
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
    const [, script] = /<script[^>]* src="([^"]+)"/.exec(text) ?? []
    expect(await relay.call('HEAD', `${script}`)).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
      },
    })
  })

  test.each(['/', '/sites', '/examples/'])('%s has a picture at this relay, for chats', async (path) => {
    const { text } = await relay.call('GET', path)
    const [, picture = ''] = /property="og:image" content="([^"]+)"/.exec(text) ?? []
    const { origin, pathname } = new URL(picture)
    expect(origin).toBe(relay.origin)
    expect(await relay.call('HEAD', pathname)).toMatchObject({
      status: 200,
      headers: { 'content-type': 'image/jpeg' },
    })
  })

  test('the examples are there, too, and what is not a page is not', async () => {
    const { status, text } = await relay.call('GET', '/examples/')
    expect([status, text]).toEqual([200, expect.stringContaining('<h1>Examples</h1>')])
    for (const path of [
      '/nothing',
      '/.built-from',
      '/package.json',
      '/admin/a.b',
      '/admin/a/b/c',
      '/admin/../x',
    ])
      expect(await relay.call('GET', path)).toMatchObject({ status: 404, text: 'Not found\n' })
  })

  test('the page of relays is there with discovery alone', async () => {
    for (const path of ['/relays', '/relays/', '/relays/index.html'])
      expect(await relay.call('GET', path)).toMatchObject({ status: 404, text: 'Not found\n' })
    const { json } = await relay.call('GET', '/sdk/domain')
    expect(json.data).not.toHaveProperty('discovery')
  })

  test('only the worker that measures relays may ask other origins', async () => {
    const directory = join(PACKAGE, 'pages/assets')
    const scripts = (await readdir(directory)).filter((name) => name.endsWith('.js'))
    const policies = await Promise.all(
      scripts.map(async (name) => {
        const { headers } = await relay.call('HEAD', `/assets/${name}`)
        return [name.startsWith('relay-probe-'), `${headers['content-security-policy']}`] as const
      }),
    )
    expect(policies.filter(([isProbe]) => isProbe)).toEqual([
      [true, "default-src 'none'; connect-src https:"],
    ])
    for (const [isProbe, policy] of policies) if (!isProbe) expect(policy).toMatch(/connect-src 'self'(;|$)/)
  })

  test('a share that no service worker takes leads to the landing page before its body is sent, and the connection ends', async () => {
    const socket = relay.tls(new URL(relay.origin).hostname)
    const head = [
      'POST /share-target/ HTTP/1.1',
      `Host: ${new URL(relay.origin).host}`,
      'Content-Type: multipart/form-data; boundary=x',
      'Content-Length: 1000000000',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(`${answer}`).toMatch(/^HTTP\/1\.1 303 See Other\r\n/)
    expect(`${answer}`).toMatch(/\r\nLocation: \/\?shared=refused\r\n/)
    expect(`${answer}`).toMatch(/\r\nConnection: close\r\n/)
    socket.on('error', () => {})
    const over = new Promise((resolve) => socket.once('close', resolve))
    // As a browser that goes on, which costs the relay a bounded part.
    const more = Buffer.alloc(64 * 1024)
    const send = (): void => {
      while (!socket.destroyed && socket.write(more));
      socket.once('drain', send)
    }
    send()
    await over
    expect(socket.bytesWritten).toBeLessThan(64 * 1024 * 1024)
    expect(await relay.call('GET', '/share-target/')).toMatchObject({ status: 404 })
    expect(await relay.call('POST', '/share-target/x')).toMatchObject({ status: 404 })
  })

  test('nothing of it is worth a warning', () => {
    expect(relay.log.filter(({ level }) => Number(level) > 30)).toEqual([])
  })
})

describe('where they are not built', () => {
  let directory: string
  let relay: RelayProcess
  beforeAll(async () => {
    // as `npm ci --ignore-scripts` leaves the package
    directory = await mkdtemp(join(tmpdir(), 'svc-unbuilt-'))
    await cp(join(PACKAGE, 'src'), join(directory, 'relay/src'), { recursive: true })
    await cp(join(PACKAGE, 'package.json'), join(directory, 'relay/package.json'))
    await symlink(resolve(PACKAGE, '../node_modules'), join(directory, 'node_modules'))
    relay = await startRelayProcess({ ADMIN_TOKEN }, { main: join(directory, 'relay/src/main.ts') })
  })
  afterAll(async () => {
    await relay.close()
    await rm(directory, { recursive: true })
  })

  test('the log says so once, at the start', () => {
    const warnings = relay.log.filter(({ level }) => Number(level) > 30)
    expect(warnings).toMatchObject([
      { level: 40, directory: join(directory, 'relay/pages'), msg: expect.stringContaining('npm run site') },
    ])
  })

  test.each(['/', '/sites', '/sites/', '/admin', '/admin/', '/examples/'])('%s says so', async (path) => {
    const { status, text, headers } = await relay.call('GET', path)
    expect([status, text]).toEqual([503, expect.stringMatching(/not built.*npm run site/s)])
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
  })

  test.each(['/sdk.js', '/sdk/importmap.json', '/api/install/bin/js-wasm', '/api/install/bin/wasm-exec'])(
    '%s says so in a comment',
    async (path) => {
      const { status, text, headers } = await relay.call('GET', path)
      expect([status, text]).toEqual([503, expect.stringMatching(/^\/\/ .*not built.*npm run site.*\n$/)])
      expect(headers).toMatchObject({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' })
    },
  )

  test('every other path is not found, and the API works', async () => {
    for (const path of ['/nothing', '/assets/index-Ab3_x-9Z.js', '/sdk/hop'])
      expect(await relay.call('GET', path)).toMatchObject({ status: 404, text: 'Not found\n' })
    expect((await relay.call('GET', '/api/healthz')).json).toEqual({ ok: true, data: { status: 'ok' } })
  })

  test('the landing page that the policy turned off is not found', async () => {
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` }
    const { data } = (await relay.call('GET', '/api/policy', undefined, headers)).json
    await relay.call('POST', '/api/policy', { ...(data as object), landing_page_enabled: false }, headers)
    for (const path of ['/', '/sites'])
      expect(await relay.call('GET', path)).toMatchObject({ status: 404, text: 'Not found\n' })
    expect(await relay.call('GET', '/admin')).toMatchObject({ status: 503 })
  })

  test('they are served as soon as they are there', async () => {
    await cp(join(PACKAGE, 'pages'), join(directory, 'relay/pages'), { recursive: true })
    expect(await relay.call('GET', '/admin')).toMatchObject({
      status: 200,
      text: expect.stringContaining('<title>svc</title>'),
    })
  })
})
