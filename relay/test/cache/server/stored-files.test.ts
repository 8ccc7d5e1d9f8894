// Visitors get stored files: with curl, over HTTP/1.1 and HTTP/2, and byte by byte.

import { randomBytes } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeVariants } from '../../../../tools/describe-variants.ts'
import { curl } from '../../../../tools/programs/curl.ts'
import { type CachedSite, HOSTNAME, startCachedSite } from './cached-site.ts'

const PAGE = `<!doctype html><title>stored</title>${'<p>text that repeats</p>'.repeat(50)}`
const PICTURE = randomBytes(20_000)
const FILM = randomBytes(3_000_000)
const FILES = {
  'a b/ä %.txt': 'a name with everything that is encoded',
  'about.html': '<!doctype html><title>about</title>',
  'app.js': 'export {}',
  'docs/index.html': '<!doctype html><title>docs</title>',
  'empty.css': '',
  'film.webm': FILM,
  'index.html': PAGE,
  noext: 'a file without extension',
  'picture.png': PICTURE,
  'sdk/domain': 'a path of the API',
}

let site: CachedSite
beforeAll(async () => {
  site = await startCachedSite()
  await site.snapshots.put(FILES)
})
afterAll(() => site.close())

interface Got {
  status: number
  version: string
  headers: Record<string, string>
  body: Buffer
}

async function get(path: string, ...args: string[]): Promise<Got> {
  const resolve = ['--resolve', `${HOSTNAME}:${site.port}:127.0.0.1`]
  const output = await curl(
    site.caFile,
    '-i',
    '--path-as-is',
    ...resolve,
    ...args,
    `https://${HOSTNAME}:${site.port}${path}`,
  )
  const end = output.indexOf('\r\n\r\n')
  const [first = '', ...lines] = output.subarray(0, end).toString('latin1').split('\r\n')
  const [version = '', status] = first.split(' ')
  const headers = Object.fromEntries(
    lines.map((line) =>
      line.toLowerCase().startsWith('etag')
        ? ['etag', line.slice(6)]
        : [line.split(': ')[0]?.toLowerCase(), line.split(': ').slice(1).join(': ')],
    ),
  )
  return { status: Number(status), version, headers, body: output.subarray(end + 4) }
}

describeVariants('with curl %s', ['--http2', '--http1.1'], (version) => {
  const fetch = (path: string, ...args: string[]): Promise<Got> => get(path, version, ...args)

  test.each([
    ['/picture.png', PICTURE, 'image/png'],
    ['/film.webm', FILM, 'video/webm'],
    ['/app.js', FILES['app.js'], 'text/javascript; charset=utf-8'],
    ['/app.js?v=1', FILES['app.js'], 'text/javascript; charset=utf-8'],
    ['/empty.css', '', 'text/css; charset=utf-8'],
    ['/noext', FILES.noext, 'application/octet-stream'],
    ['/a%20b/%C3%A4%20%25.txt', FILES['a b/ä %.txt'], 'text/plain; charset=utf-8'],
    ['/%61pp.js', FILES['app.js'], 'text/javascript; charset=utf-8'],
    ['/', PAGE, 'text/html; charset=utf-8'],
    ['/?q=/app.js', PAGE, 'text/html; charset=utf-8'],
    ['/docs/', FILES['docs/index.html'], 'text/html; charset=utf-8'],
    ['/some/page', PAGE, 'text/html; charset=utf-8'],
    ['/some.thing/page', PAGE, 'text/html; charset=utf-8'],
    ['/app.js/', PAGE, 'text/html; charset=utf-8'],
    ['/some/folder/', PAGE, 'text/html; charset=utf-8'],
    ['/sdk/domain', FILES['sdk/domain'], 'application/octet-stream'],
    ['/sdk/register', PAGE, 'text/html; charset=utf-8'],
    ['/v1/sign', PAGE, 'text/html; charset=utf-8'],
    ['/api/healthz', PAGE, 'text/html; charset=utf-8'],
  ])('GET %s', async (path, content, type) => {
    const got = await fetch(path)
    expect(got.body.equals(Buffer.from(content))).toBe(true)
    expect(got).toMatchObject({
      status: 200,
      version: version === '--http2' ? 'HTTP/2' : 'HTTP/1.1',
      headers: {
        'content-type': type,
        'content-length': `${Buffer.byteLength(content)}`,
        'accept-ranges': 'bytes',
        'cache-control': 'no-cache',
        'cache-status': 'svc-relay; hit',
        'x-content-type-options': 'nosniff',
        vary: 'Accept-Encoding',
      },
    })
    const head = await fetch(path, '--head')
    expect(head.body.length).toBe(0)
    expect({ ...head.headers, date: '', connection: '' }).toEqual({
      ...got.headers,
      date: '',
      connection: '',
    })
  })

  test.each([
    '/missing.js',
    '/App.js',
    '/docs/x.css',
    '/../app.js',
    '/docs/../app.js',
    '/docs/%2e%2e/app.js',
    '//app.js',
    '/./app.js',
    '/docs%2fx.html',
    '/docs\\index.html',
    '/app.js%00',
    '/app%252ejs.x',
    '/.env',
    '/etc/passwd.txt',
    '/constructor.prototype',
  ])('GET %s is not stored', async (path) => {
    const got = await fetch(path)
    expect(got.headers['cache-status']).not.toBe('svc-relay; hit')
    expect(got.status).toBe(404)
    expect(got.body.toString()).toMatch(/^This site is away/)
  })

  test.each(['/%', '/%zz', '/%ff.txt', '/%c0%ae%c0%ae/app.js'])('GET %s is no path', async (path) => {
    expect(await fetch(path)).toMatchObject({ status: 400 })
  })

  test('a folder whose index is stored gets the slash that its links need (protocol §15.2.2)', async () => {
    expect(await fetch('/docs?x=//evil.example')).toMatchObject({
      status: 301,
      headers: { location: 'docs/?x=//evil.example' },
    })
    const { body } = await get(
      '/docs',
      version,
      '--location',
      '--output',
      '/dev/null',
      '--write-out',
      '\r\n\r\n%{url_effective}',
    )
    expect(body.toString()).toMatch(/\/docs\/$/)
  })

  test('the best coding that the visitor accepts, each with a tag of its own', async () => {
    const plain = await fetch('/')
    const br = await fetch('/', '-H', 'Accept-Encoding: gzip, br')
    const gzip = await fetch('/', '-H', 'Accept-Encoding: gzip, br;q=0')
    const none = await fetch('/', '-H', 'Accept-Encoding: identity;q=1, *;q=0')
    expect(brotliDecompressSync(br.body).toString()).toBe(PAGE)
    expect(gunzipSync(gzip.body).toString()).toBe(PAGE)
    expect(none.body.toString()).toBe(PAGE)
    expect(br.headers['content-encoding']).toBe('br')
    expect(gzip.headers['content-encoding']).toBe('gzip')
    expect(none.headers['content-encoding']).toBeUndefined()
    expect(new Set([plain, br, gzip].map(({ headers }) => headers.etag)).size).toBe(3)
    expect(none.headers.etag).toBe(plain.headers.etag)
    expect((await fetch('/picture.png', '-H', 'Accept-Encoding: gzip, br')).body.equals(PICTURE)).toBe(true)
  })

  test('304 for the tag of the very representation, and no content (protocol §15.2.3)', async () => {
    const { etag = '' } = (await fetch('/', '-H', 'Accept-Encoding: br')).headers
    const known = await fetch('/', '-H', 'Accept-Encoding: br', '-H', `If-None-Match: "other", ${etag}`)
    expect(known).toMatchObject({
      status: 304,
      headers: { etag, vary: 'Accept-Encoding', 'cache-control': 'no-cache' },
    })
    expect(known.body.length).toBe(0)
    expect(known.headers['content-type']).toBeUndefined()
    expect(await fetch('/', '-H', `If-None-Match: ${etag}`)).toMatchObject({ status: 200 })
    expect(await fetch('/', '-H', 'If-None-Match: *')).toMatchObject({ status: 304 })
    expect(
      await fetch('/', '--head', '-H', 'Accept-Encoding: br', '-H', `If-None-Match: W/${etag}`),
    ).toMatchObject({ status: 304 })
  })

  test('If-Match compares tags, and weak ones are never the same', async () => {
    const { etag = '' } = (await fetch('/app.js')).headers
    expect(await fetch('/app.js', '-H', `If-Match: "x", ${etag}`)).toMatchObject({ status: 200 })
    expect(await fetch('/app.js', '-H', `If-Match: W/${etag}`)).toMatchObject({ status: 412 })
    expect(await fetch('/app.js', '-H', 'If-Match: "x"')).toMatchObject({ status: 412 })
  })

  test.each([
    ['0-0', 0, 1],
    ['0-99', 0, 100],
    ['19990-', 19_990, 20_000],
    ['-10', 19_990, 20_000],
    ['19999-99999', 19_999, 20_000],
  ])('the range %s of a small file', async (range, start, end) => {
    const got = await fetch('/picture.png', '--range', range)
    expect(got).toMatchObject({
      status: 206,
      headers: {
        'content-range': `bytes ${start}-${end - 1}/20000`,
        'content-length': `${end - start}`,
        'content-type': 'image/png',
      },
    })
    expect(got.body.equals(PICTURE.subarray(start, end))).toBe(true)
  })

  test('a range of a large file', async () => {
    const got = await fetch('/film.webm', '--range', '1000000-2500000')
    expect(got.status).toBe(206)
    expect(got.body.equals(FILM.subarray(1_000_000, 2_500_001))).toBe(true)
  })

  test('a range that cannot be, and several at once', async () => {
    const got = await fetch('/picture.png', '--range', '20000-')
    expect(got).toMatchObject({ status: 416, headers: { 'content-range': 'bytes */20000' } })
    expect(await fetch('/empty.css', '--range', '0-')).toMatchObject({ status: 416 })
    expect(await fetch('/picture.png', '--range', '0-1,5-6')).toMatchObject({ status: 200 })
    expect(await fetch('/picture.png', '--head', '--range', '0-1')).toMatchObject({ status: 200 })
  })

  test('If-Range: a part of the same representation, else the whole', async () => {
    const plain = (await fetch('/')).headers.etag
    const br = await fetch('/', '-H', 'Accept-Encoding: br')
    const part = ['--range', '0-9', '-H', 'Accept-Encoding: br'] as const
    expect((await fetch('/', ...part)).body.toString()).toBe(PAGE.slice(0, 10))
    expect((await fetch('/', ...part, '-H', `If-Range: ${plain}`)).body.toString()).toBe(PAGE.slice(0, 10))
    const ofBr = await fetch('/', ...part, '-H', `If-Range: ${br.headers.etag}`)
    expect(ofBr).toMatchObject({ status: 206, headers: { 'content-encoding': 'br', etag: br.headers.etag } })
    expect(ofBr.body.equals(br.body.subarray(0, 10))).toBe(true)
    expect(await fetch('/', ...part, '-H', 'If-Range: "old"')).toMatchObject({ status: 200 })
    expect(await fetch('/', ...part, '-H', `If-Range: W/${plain}`)).toMatchObject({ status: 200 })
  })

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    '%s is for the site alone, which is away',
    async (method) => {
      const got = await fetch(
        '/app.js',
        '-X',
        method,
        ...(method === 'POST' ? ['-d', 'x'.repeat(100_000)] : []),
      )
      expect(got).toMatchObject({
        status: 503,
        headers: { 'retry-after': '30', 'cache-control': 'no-store' },
      })
    },
  )

  test('the Host is that of the handshake (protocol §15.2.4)', async () => {
    const others = [
      'relay.localhost',
      'other.relay.localhost',
      `x.${HOSTNAME}`,
      `${HOSTNAME}:1`,
      `${HOSTNAME}:1x`,
    ]
    for (const host of others)
      expect(await fetch('/app.js', '-H', `Host: ${host}`)).toMatchObject({ status: 421 })
    for (const host of [HOSTNAME, `${HOSTNAME}.`, HOSTNAME.toUpperCase()])
      expect(await fetch('/app.js', '-H', `Host: ${host}`)).toMatchObject({ status: 200 })
  })
})

test('nothing stays borrowed', async () => {
  await expect.poll(() => site.snapshots.borrowed).toBe(0)
})

test('each request counts once', async () => {
  const before = site.results.length
  await get('/app.js')
  await get('/missing.js')
  await get('/app.js', '-X', 'POST')
  expect(site.results.slice(before)).toEqual(['hit', 'away', 'away'])
})
