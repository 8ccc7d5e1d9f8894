// What the relay says to who opens an address by mistake: a page in a browser, and to programs what they always got.

import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { asksForPage } from '../../src/core/http/error-page.ts'
import { freePort, ROOT_HOST, startTestRelay } from '../support/relay.ts'

const BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'Sec-Fetch-Mode': 'navigate' }
const redirectPort = await freePort()
const relay = useStarted(() =>
  startTestRelay({
    HTTP_REDIRECT_ADDR: `127.0.0.1:${redirectPort}`,
    SVC_SITE_DIR: mkdtempSync(join(tmpdir(), 'empty-')),
  }),
)

/** What is the same in each page. */
function expectPage(text: string, title: string): void {
  expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
  expect(text).toContain('<meta name="viewport"')
  expect(text).toContain(`<title>${title}</title>`)
  expect(text).toMatch(new RegExp(`<h1>${title}</h1>(?:\n<p[^>]*>.+[.!?]</p>)+\n<p><a href="/">`))
}

describe.each<[method: string, path: string, status: number, title: string, ofPrograms: string]>([
  ['GET', '/sdk/register', 405, 'This address is for programs', 'json'],
  ['GET', '/v1/sign', 405, 'This address is for programs', 'json'],
  ['GET', '/sdk/connect', 403, 'This address is for programs', 'json'],
  ['POST', '/api/healthz', 405, 'This address is for programs', 'json'],
  ['GET', '/api/admin/administrators', 401, 'This address is for programs', 'json'],
  ['GET', '/api/x402/settle', 404, 'There is no such page', 'text'],
  ['GET', '/.well-known/unknown', 404, 'There is no such page', 'text'],
  ['GET', '/nothing', 404, 'There is no such page', 'text'],
  ['POST', '/go/demo', 405, 'This address is for programs', 'text'],
])('%s %s', (method, path, status, title, ofPrograms) => {
  test('is a page in a browser', async () => {
    const answer = await relay.call(method, path, undefined, BROWSER)
    expect(answer.status, answer.text).toBe(status)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-length': String(Buffer.byteLength(answer.text)),
      'content-security-policy': expect.stringMatching(/^default-src 'none'; style-src 'sha256-/),
      vary: expect.stringContaining('Accept'),
    })
    expectPage(answer.text, title)
  })

  test.each([
    ['curl', { Accept: '*/*' }],
    ['a script', { Accept: 'text/html', 'Sec-Fetch-Mode': 'cors' }],
    ['a program that says nothing', {}],
  ])('is no page for %s', async (_, headers: Record<string, string>) => {
    const answer = await relay.call(method, path, undefined, headers)
    const type = ofPrograms === 'json' ? 'application/json' : 'text/plain; charset=utf-8'
    expect(answer.headers['content-type']).toBe(type)
    expect(answer.text).not.toContain('<')
  })
})

test('HEAD gets the length of the page alone', async () => {
  const page = await relay.call('GET', '/nothing', undefined, BROWSER)
  const head = await relay.call('HEAD', '/nothing', undefined, BROWSER)
  expect([head.status, head.text]).toEqual([404, ''])
  expect(head.headers['content-length']).toBe(page.headers['content-length'])
})

test('a browser with too many cookies learns what to do', async () => {
  const cookies = { Cookie: 'a'.repeat(70_000) }
  const page = await relay.call('GET', '/', undefined, { ...BROWSER, ...cookies })
  expect(page.status).toBe(431)
  expectPage(page.text, 'Your browser sent too much with the request')
  expect((await relay.call('GET', '/', undefined, cookies)).json).toMatchObject({ ok: false })
})

test.each([
  [
    'a host that the relay does not serve',
    'GET / HTTP/1.1\r\nHost: other.example\r\n',
    421,
    'This address does not belong here',
  ],
  ['no host', 'GET / HTTP/1.1\r\nHost:\r\n', 400, 'The request cannot be read'],
  [
    'a challenge that is not this one',
    `GET /.well-known/acme-challenge/a HTTP/1.1\r\nHost: ${ROOT_HOST}\r\n`,
    404,
    'There is no such page',
  ],
])('by plain HTTP, %s is a page in a browser, and empty for a program', async (_, head, status, title) => {
  const fields = Object.entries(BROWSER).map(([name, value]) => `${name}: ${value}\r\n`)
  const [first = '', page = ''] = (await askPlainly(`${head}${fields.join('')}\r\n`)).split('\r\n\r\n')
  expect(first).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expectPage(page, title)
  expect(await askPlainly(`${head}\r\n`)).toMatch(new RegExp(`^HTTP/1.1 ${status} [^<]*\r\n\r\n$`))
})

test('what a refused head asks for is read as far as it came', () => {
  expect(asksForPage('GET / HTTP/1.1\r\nACCEPT: text/html\r\nCookie: a')).toBe(true)
  expect(asksForPage('GET / HTTP/1.1\r\nAccept: text/html\r\nSec-Fetch-Mode: cors\r\n')).toBe(false)
  expect(asksForPage('GET /?accept:text/html HTTP/1.1\r\nX: Accept: text/html\r\n')).toBe(false)
})

async function askPlainly(request: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: redirectPort })
  await once(socket, 'connect')
  socket.end(request)
  return Buffer.concat(await socket.toArray()).toString()
}
