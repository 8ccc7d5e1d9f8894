// Files as a site: RFC 9110 §8, §13, §14 field by field, and paths that try to leave the tree.

import { describe, expect, test } from 'vitest'
import { type FilesOptions, files, LISTING_MAX } from '../../src/handlers/files.ts'
import { ask } from './ask.ts'

/** Sun, 06 Nov 1994 08:49:37 GMT, and half a second. */
const MODIFIED = Date.UTC(1994, 10, 6, 8, 49, 37, 500)
const LAST_MODIFIED = 'Sun, 06 Nov 1994 08:49:37 GMT'

function file(name: string, content = '0123456789', type = ''): File {
  return new File([content], name, { lastModified: MODIFIED, type })
}

const get = (
  path: string,
  headers: Record<string, string> = {},
  options: FilesOptions = {},
  method = 'GET',
) => ask(files([file('a.bin'), file('index.html', '<h1>')], options), path, { headers, method })

const ETAG = (await get('/a.bin')).headers.get('etag')!

describe('RFC 9110 §8 representation data', () => {
  test('a file with its type, length, validators and no sniffing', async () => {
    const response = await get('/a.bin')
    expect(await response.text()).toBe('0123456789')
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toEqual({
      'accept-ranges': 'bytes',
      'cache-control': 'no-cache',
      'content-length': '10',
      'content-type': 'application/octet-stream',
      etag: `"a-${MODIFIED.toString(36)}"`,
      'last-modified': LAST_MODIFIED,
      'x-content-type-options': 'nosniff',
    })
  })

  test.each([
    ['page.HTML', '', 'text/html; charset=utf-8'],
    ['film.mp4', 'text/plain', 'video/mp4'],
    ['film.mkv', 'video/x-matroska', 'video/x-matroska'],
    ['note', 'text/plain;charset=latin1', 'text/plain;charset=latin1'],
    ['what.constructor', '', 'application/octet-stream'],
    ['none', '', 'application/octet-stream'],
  ])('§8.3 the type of %s', async (name, type, expected) => {
    const response = await ask(files([file(name, '', type)]), `/${name}`)
    expect(response.headers.get('content-type')).toBe(expected)
  })

  test('§8.8.2.1 Last-Modified is never in the future', async () => {
    const late = new File([''], 'late', { lastModified: Date.now() + 1e9 })
    const response = await ask(files([late]), '/late')
    expect(Date.parse(response.headers.get('last-modified')!)).toBeLessThanOrEqual(Date.now())
  })

  test('§8.8.3 the tag changes with the size and with the millisecond', async () => {
    const changed = [new File(['0123456789'], 'a', { lastModified: MODIFIED + 1 }), file('a', '012345678')]
    const tags = await Promise.all(
      changed.map(async (one) => (await ask(files([one]), '/a')).headers.get('etag')),
    )
    expect(new Set([ETAG, ...tags]).size).toBe(3)
  })

  test('§9.3.2 HEAD has the fields and no content', async () => {
    const response = await get('/a.bin', { range: 'bytes=0-0' }, {}, 'HEAD')
    expect([response.status, response.body, response.headers.get('content-length')]).toEqual([
      200,
      null,
      '10',
    ])
  })

  test('§15.5.6 other methods get 405 with Allow', async () => {
    const response = await get('/a.bin', {}, {}, 'DELETE')
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})

describe('RFC 9110 §13 conditional requests', () => {
  test.each<[string, Record<string, string>, number]>([
    ['§13.1.2 the same tag', { 'if-none-match': ETAG }, 304],
    ['§13.1.2 the same tag, weakly', { 'if-none-match': `"x", W/${ETAG}` }, 304],
    ['§13.1.2 any', { 'if-none-match': '*' }, 304],
    ['§13.1.2 another tag', { 'if-none-match': '"x"' }, 200],
    ['§13.1.3 not modified since', { 'if-modified-since': LAST_MODIFIED }, 304],
    ['§13.1.3 modified since', { 'if-modified-since': 'Sun, 06 Nov 1994 08:49:36 GMT' }, 200],
    ['§13.1.3 no date', { 'if-modified-since': 'yesterday-ish' }, 200],
    ['§13.2.2 a tag outdoes a date', { 'if-none-match': '"x"', 'if-modified-since': LAST_MODIFIED }, 200],
    ['§13.1.1 the same tag', { 'if-match': ETAG }, 200],
    ['§13.1.1 compared strongly', { 'if-match': `W/${ETAG}` }, 412],
    ['§13.1.1 another tag', { 'if-match': '"x"' }, 412],
    ['§13.1.4 unmodified since', { 'if-unmodified-since': LAST_MODIFIED }, 200],
    ['§13.1.4 modified since', { 'if-unmodified-since': 'Sun, 06 Nov 1994 08:49:36 GMT' }, 412],
  ])('%s', async (_, headers, status) => {
    expect((await get('/a.bin', headers)).status).toBe(status)
  })

  test('§15.4.5 a 304 has the validators and nothing about the content', async () => {
    const response = await get('/a.bin', { 'if-none-match': ETAG }, { disposition: 'attachment' })
    expect([...response.headers.keys()].sort()).toEqual(
      ['accept-ranges', 'cache-control', 'etag', 'last-modified', 'x-content-type-options'].sort(),
    )
    expect(response.body).toBe(null)
  })
})

describe('RFC 9110 §14 ranges', () => {
  test.each([
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=5-99', '56789', 'bytes 5-9/10'],
    ['bytes=-99', '0123456789', 'bytes 0-9/10'],
    ['BYTES=9-9', '9', 'bytes 9-9/10'],
    [`bytes=8-${'9'.repeat(400)}`, '89', 'bytes 8-9/10'],
  ])('§14.1.2 %s', async (range, content, contentRange) => {
    const response = await get('/a.bin', { range })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe(contentRange)
    expect(response.headers.get('content-length')).toBe(String(content.length))
    expect(await response.text()).toBe(content)
  })

  test.each(['bytes=10-', 'bytes=10-20', 'bytes=-0', `bytes=${'9'.repeat(400)}-`])(
    '§15.5.17 %s',
    async (range) => {
      const response = await get('/a.bin', { range })
      expect([response.status, response.body]).toEqual([416, null])
      expect(response.headers.get('content-range')).toBe('bytes */10')
      expect(response.headers.get('content-type')).toBe(null)
    },
  )

  test.each([
    'bytes=4-2',
    'bytes=-',
    'bytes=a-b',
    'bytes=1-2,4-5',
    'pages=1-2',
    'bytes=0-1x',
    'bytes 0-1',
    'bytes=--1',
  ])('§14.2 ignored: %s', async (range) => {
    const response = await get('/a.bin', { range })
    expect([response.status, await response.text()]).toEqual([200, '0123456789'])
  })

  test('an empty file has no range', async () => {
    const response = await ask(files([file('empty', '')]), '/empty', { headers: { range: 'bytes=0-' } })
    expect(response.status).toBe(416)
  })

  test.each([
    ['the same tag', ETAG, 206],
    ['a weak tag', `W/${ETAG}`, 200],
    ['another tag', '"x"', 200],
    ['the same date', LAST_MODIFIED, 206],
    ['another date', 'Sun, 06 Nov 1994 08:49:38 GMT', 200],
    ['nonsense', 'x', 200],
  ])('§13.1.5 If-Range with %s', async (_, ifRange, status) => {
    expect((await get('/a.bin', { range: 'bytes=0-0', 'if-range': ifRange })).status).toBe(status)
  })

  test('§8.8.2.2 a date within the second of the change is no strong validator', async () => {
    const now = new File(['0123456789'], 'now')
    const handler = files([now])
    const date = (await ask(handler, '/now')).headers.get('last-modified')!
    const headers = { range: 'bytes=0-0', 'if-range': date }
    const response = await ask(handler, '/now', { headers })
    const isSameSecond = Date.now() < Date.parse(date) + 1000
    expect(response.status).toBe(isSameSecond ? 200 : 206)
  })
})

describe('RFC 6266 Content-Disposition', () => {
  test('§4.3 the name in ASCII and as it is', async () => {
    const name = 'naïve "quote" \'x\'.txt'
    const response = await ask(
      files([file(name)], { disposition: 'attachment' }),
      `/${encodeURIComponent(name)}`,
    )
    expect(response.headers.get('content-disposition')).toBe(
      "attachment; filename=\"na_ve _quote_ 'x'.txt\"; filename*=UTF-8''na%C3%AFve%20%22quote%22%20%27x%27.txt",
    )
  })
})

describe('paths', () => {
  const tree = new Map([
    ['index.html', file('index.html', 'root')],
    ['sub dir/a.txt', file('a.txt')],
    ['site/index.html', file('index.html', 'site')],
    ['.env', file('.env', 'secret')],
    ['.git/config', file('config', 'secret')],
    ['.well-known/x', file('x', 'known')],
  ])
  const text = async (path: string, options?: FilesOptions): Promise<string> => {
    const response = await ask(files(tree, options), path)
    return response.ok ? response.text() : String(response.status)
  }

  test('a folder is its index', async () => {
    expect(await text('/')).toBe('root')
    expect(await text('/site/')).toBe('site')
    expect(await text('/site/', { index: false })).toBe('404')
    expect(await text('/sub%20dir/', { index: 'a.txt' })).toBe('0123456789')
  })

  test('a folder without its slash is redirected there, on the same host', async () => {
    const response = await ask(files(tree), '/sub%20dir?q=1')
    expect([response.status, response.headers.get('location')]).toEqual([301, 'sub%20dir/?q=1'])
    const odd = files(new Map([['http:/evil.example/x', file('x')]]))
    expect((await ask(odd, '/http:')).headers.get('location')).toBe('http%3A/')
    expect((await ask(odd, '//evil.example')).status).toBe(404)
  })

  test.each([
    '/../index.html/x',
    '/%2e%2e%2findex.html',
    '/site/%2e%2e%2findex.html',
    '/site%2findex.html',
    '/site%5cindex.html',
    '/..%5cindex.html',
    '/site//index.html',
    '//index.html',
    '/index.html/',
    '/index.html%00',
    '/%ff',
    '/%',
    '/constructor',
    '/__proto__',
  ])('nothing is at %s', async (path) => {
    expect(await text(path, { listing: true, hidden: true })).toBe('404')
  })

  test('hidden names are served only when asked for; what is well known is not hidden', async () => {
    expect(await text('/.env')).toBe('404')
    expect(await text('/.git/config')).toBe('404')
    expect(await text('/%2Eenv')).toBe('404')
    expect(await text('/.well-known/x')).toBe('known')
    expect(await text('/.env', { hidden: true })).toBe('secret')
  })

  test('a map may change while it is served', async () => {
    const live = new Map<string, File>()
    const handler = files(live)
    expect((await ask(handler, '/new.txt')).status).toBe(404)
    live.set('new.txt', file('new.txt'))
    expect((await ask(handler, '/new.txt')).status).toBe(200)
  })

  test('files of a folder input are below the chosen folder', async () => {
    const chosen = Object.assign(file('a.txt'), { webkitRelativePath: 'chosen/sub/a.txt' })
    expect((await ask(files([chosen]), '/sub/a.txt')).status).toBe(200)
  })
})

describe('listing', () => {
  const list = async (names: string[], path = '/', options: FilesOptions = {}): Promise<string> => {
    const tree = new Map(names.map((name) => [name, file(name)]))
    return (await ask(files(tree, { listing: true, ...options }), path)).text()
  }
  const links = (html: string): string[] =>
    [...html.matchAll(/<td><div>(?:<svg.*?<\/svg>|<img.*?>)<a href="(.*?)"/g)].map((match) => match[1]!)

  test('folders first, by number, with a way up', async () => {
    const names = ['b10.txt', 'b2.txt', 'z/a', 'z/b']
    expect(links(await list(names))).toEqual(['./z/', './b2.txt', './b10.txt'])
    expect(links(await list(names, '/z/'))).toEqual(['../', './a', './b'])
  })

  test('names are text, never markup, scheme or host', async () => {
    const html = await list(['<img src=x onerror=alert(1)>"\'&', 'javascript:alert(1)', '\ud800'])
    expect(html).not.toContain('<img')
    expect(html).toContain('&#60;img src=x onerror=alert(1)&#62;&#34;&#39;&#38;')
    expect(links(html).every((href) => href.startsWith('./') && !href.includes(':'))).toBe(true)
  })

  test('has sizes and times, and none that cannot be', async () => {
    const at = (lastModified: number, size = 1): File => new File(['x'.repeat(size)], 'a', { lastModified })
    const tree = new Map([
      ['a', at(Date.UTC(2026, 0, 2, 3, 4), 1500)],
      ['b/c', at(0)],
      ['d', at(9e15)],
    ])
    const html = await (await ask(files(tree, { listing: true }), '/')).text()
    const figures = (name: string): string | undefined =>
      new RegExp(`>${name}</a>.*?</td>(.*)</tr>`).exec(html)?.[1]?.replaceAll(/<\/?td.*?>/g, '|')
    const time = '<time datetime="2026-01-02T03:04:00.000Z">2026-01-02 03:04 UTC</time>'
    expect(figures('a')).toBe(`|${time}||1.5 kB|`)
    expect(figures('b/')).toBe('||||')
    expect(figures('d')).toBe('||||1 B|'.slice(1))
    expect(html).toContain('<p>1 folder, 2 files, 1.5 kB</p>')
  })

  test.each([
    ['', ['sub/', 'a', 'b', 'c'], 'Name'],
    ['?sort=name', ['sub/', 'a', 'b', 'c'], 'Name'],
    ['?sort=-name', ['sub/', 'c', 'b', 'a'], 'Name'],
    ['?sort=size', ['sub/', 'b', 'c', 'a'], 'Size'],
    ['?sort=-date', ['sub/', 'c', 'a', 'b'], 'Changed'],
    ['?sort=constructor', ['sub/', 'a', 'b', 'c'], 'Name'],
  ])('%s is the order %j', async (query, names, by) => {
    const sized = (size: number, lastModified: number): File =>
      new File(['x'.repeat(size)], 'f', { lastModified })
    const tree = new Map([
      ['a', sized(3, 2)],
      ['b', sized(1, 1)],
      ['c', sized(2, 3)],
      ['sub/d', sized(0, 0)],
    ])
    const html = await (await ask(files(tree, { listing: true }), `/${query}`)).text()
    expect([...html.matchAll(/<\/svg><a href=".*?">(.*?)</g)].map(([, name]) => name)).toEqual(names)
    expect(/aria-sort="\w+"><a href=".*?">(\w+)/.exec(html)?.[1]).toBe(by)
  })

  test('is titled by the folder, with the way to it', async () => {
    expect(await list(['a'])).toContain('<title>site.example</title>')
    const html = await list(['x/<y>/z'], '/x/%3Cy%3E/')
    expect(html).toContain('<title>&#60;y&#62;</title>')
    expect(html).toContain('<a href="../../">site.example</a> / <a href="../">x</a> / ')
    const chosen = Object.assign(file('a.txt'), { webkitRelativePath: 'my photos/a.txt' })
    expect(await (await ask(files([chosen], { listing: true }), '/')).text()).toContain('<h1>my photos</h1>')
  })

  test('small images are their own previews, which load when they are seen', async () => {
    const tree = new Map([
      ['small.png', new File(['x'], 'f')],
      ['large.png', new File([new Uint8Array(1024 * 1024 + 1)], 'f')],
      ['page.html', new File(['<img>'], 'f')],
    ])
    const response = await ask(files(tree, { listing: true }), '/')
    expect([...(await response.text()).matchAll(/<img src="(.*?)" alt="" loading="lazy"/g)]).toHaveLength(1)
    expect(response.headers.get('content-security-policy')).toContain("img-src 'self' data:")
  })

  test('shows text in a page, as text', async () => {
    const tree = new Map([
      ['a.md', new File(['<script>alert(1)</script>'], 'f')],
      ['b.html', new File(['<b>'], 'f')],
    ])
    const browser = { headers: { Accept: 'text/html' } }
    const handler = files(tree, { listing: true })
    expect(await (await ask(handler, '/')).text()).toContain('href="./a.md?view"')
    const page = await ask(handler, '/a.md?view', browser)
    expect(await page.text()).toContain('&#60;script&#62;alert(1)')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await (await ask(handler, '/a.md?view')).text()).toBe('<script>alert(1)</script>')
    expect(await (await ask(handler, '/b.html?view', browser)).text()).toBe('<b>')
    expect(await (await ask(files(tree), '/a.md?view', browser)).text()).toMatch(/^<script>/)
  })

  test('a static one has no links to other answers', async () => {
    expect(await list(['a.md', 'b/c'], '/', { listing: 'static' })).not.toMatch(/href="(?:[^"]*)\?/)
  })

  test('no script can run in it', async () => {
    const response = await ask(files([file('a')], { listing: true }), '/')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  test('is off by default, leaves hidden names out, and 404 where there is no folder', async () => {
    expect((await ask(files([file('a')]), '/')).status).toBe(404)
    expect(links(await list(['.env', 'a']))).toEqual(['./a'])
    expect(links(await list(['.env', 'a'], '/', { hidden: true }))).toEqual(['./.env', './a'])
    expect(await list(['a'], '/none/')).toBe('Not found\n')
    expect(await list([])).toContain('Nothing here yet')
  })

  test('says so when there is more than it lists', async () => {
    const names = Array.from({ length: LISTING_MAX + 1 }, (_, index) => `f${index}`)
    const html = await list(names)
    expect(links(html)).toHaveLength(LISTING_MAX)
    expect(html).toContain(`Only ${LISTING_MAX} are listed`)
    expect(await list(names.slice(1))).not.toContain('Only')
  })
})

describe('the option spa', () => {
  const names = ['index.html', 'app.js', 'sub/a.txt', '.env', 'old/index.html']
  const tree = new Map(names.map((name) => [name, new File([name], name)]))
  const at = async (path: string, options: FilesOptions = { spa: true }): Promise<string> => {
    const response = await ask(files(tree, options), path)
    return response.ok ? response.text() : String(response.status)
  }
  const page = 'index.html'

  test.each([
    ['/app/settings', page],
    ['/app/', page],
    ['/sub/', page],
    ['/old/', 'old/index.html'],
    ['/app.js', 'app.js'],
    // A script that is gone must not be a page.
    ['/assets/gone.js', '404'],
    ['/app/../app.mjs', '404'],
  ])('answers %s with %s', async (path, answer) => {
    expect(await at(path)).toBe(answer)
  })

  test('tells nobody which hidden files there are', async () => {
    expect([await at('/.env'), await at('/.none'), await at('/.git/config')]).toEqual(['404', '404', '404'])
    expect(await at('/%2e%2e%2fsecret')).toBe('404')
  })

  test('goes behind a listing, needs an index, and is off by default', async () => {
    expect(await at('/sub/', { spa: true, listing: true })).toContain('a.txt')
    expect(await at('/app', { spa: true, index: false })).toBe('404')
    expect(await at('/app', {})).toBe('404')
  })

  test('takes only GET and HEAD', async () => {
    expect((await ask(files(tree, { spa: true }), '/app', { method: 'POST' })).status).toBe(405)
  })
})
