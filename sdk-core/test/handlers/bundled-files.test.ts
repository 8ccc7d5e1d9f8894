// Files of a build before a handler: what the bundle has, what it leaves to the handler, and for how long it is kept.

import { expect, test } from 'vitest'
import { bundled } from '../../src/handlers/bundled-files.ts'
import { ask } from './ask.ts'

const MODIFIED = Date.UTC(1994, 10, 6, 8, 49, 37)
const PNG = 'iVBORw0KGgo='

const site = bundled(
  {
    files: {
      'assets/app.3f.js': { text: 'let a = "ä"', modified: MODIFIED },
      'grüße.txt': { text: 'hello', modified: MODIFIED },
      'icon.png': { base64: PNG, modified: MODIFIED },
      'about.html': { text: '<h1>', modified: MODIFIED },
      'empty.css': { text: '', modified: MODIFIED },
    },
    pages: { '/about': 'about.html', '/gone': 'gone.html' },
    immutable: 'assets/',
  },
  async ({ method, url }) => new Response(`${method} ${new URL(url).pathname}`, { status: 418 }),
)

const YEAR = 'public, max-age=31536000, immutable'

test.each([
  ['/assets/app.3f.js', 'text/javascript; charset=utf-8', YEAR, 12],
  ['/gr%C3%BC%C3%9Fe.txt?v=1', 'text/plain; charset=utf-8', 'no-cache', 5],
  ['/icon.png', 'image/png', 'no-cache', 8],
  ['/about', 'text/html; charset=utf-8', 'no-cache', 4],
  ['/empty.css', 'text/css; charset=utf-8', 'no-cache', 0],
])('GET and HEAD of %s are answered with its type and age', async (path, type, cacheControl, length) => {
  for (const method of ['GET', 'HEAD']) {
    const response = await ask(site, path, { method })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type])
    expect(response.headers.get('cache-control')).toBe(cacheControl)
    expect(response.headers.get('content-length')).toBe(String(length))
    expect(await response.bytes()).toHaveLength(method === 'GET' ? length : 0)
  }
})

test('base64 gives the bytes', async () => {
  expect([...(await (await ask(site, '/icon.png')).bytes())]).toEqual([137, 80, 78, 71, 13, 10, 26, 10])
})

test('a visitor who has it already is told so, and a part is a part', async () => {
  const etag = (await ask(site, '/icon.png')).headers.get('etag')!
  expect((await ask(site, '/icon.png', { headers: { 'if-none-match': etag } })).status).toBe(304)
  expect((await ask(site, '/icon.png', { headers: { range: 'bytes=1-3' } })).status).toBe(206)
})

test.each([
  ['GET', '/'],
  ['GET', '/assets'],
  ['GET', '/about/'],
  ['GET', '/gone'],
  ['GET', '/constructor'],
  ['GET', '/%ff'],
  ['POST', '/about'],
  ['DELETE', '/icon.png'],
])('%s %s is the handler’s', async (method, path) => {
  const response = await ask(site, path, { method })
  expect([response.status, await response.text()]).toEqual([418, `${method} ${path}`])
})

test('a file with neither text nor base64 is refused at once', () => {
  const files = { a: { modified: MODIFIED } }
  expect(() => bundled({ files }, () => new Response())).toThrow('a is neither text nor base64')
})
