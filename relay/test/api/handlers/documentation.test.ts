// The documentation at `/docs`: files of this package, in the relay's policy, unless the operator's files have a folder of that name.

import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PAGE_POLICY } from '../../../src/core/api/handlers/static-files.ts'
import { installation, setInstallation } from '../../../src/core/installation.ts'
import { ROOT_HOST, startTestRelay, type TestRelay } from '../../support/relay.ts'

const usual = installation()
const FILES = {
  'index.html': 'first page',
  'guide/http/index.html': 'a page',
  'guide/http/index.html.br': 'compressed',
  'guide/card/index.html': `<meta property="og:image" content="/docs/card.jpg">${'x'.repeat(100_000)}`,
  'guide/card/index.html.br': 'compressed without a host',
  'guide/http.md': '# A page',
  'assets/common.aWFeheh9.css': 'p{}',
  'pagefind/wasm.en.pagefind': 'wasm',
  '.built-from': 'secret',
}

let directory: string
let relay: TestRelay
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-documentation-'))
  await write(join(directory, 'built'), FILES)
  await write(join(directory, 'operator'), { 'index.html': 'own', 'about.html': 'about' })
  relay = await startTestRelay({ SVC_SITE_DIR: join(directory, 'operator') })
  lend('built')
})
afterEach(() => lend('built'))
afterAll(async () => {
  setInstallation(usual)
  await relay.close()
  await rm(directory, { recursive: true })
})

/** Makes a folder the package's documentation. */
function lend(folder: string): void {
  setInstallation({ ...usual, documentation: () => join(directory, folder) })
}

async function write(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await writeFile(join(folder, name), text)
  }
}

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  relay.call(method, path, undefined, headers)

async function compressed(path: string): Promise<{ headers: IncomingHttpHeaders; bytes: Buffer }> {
  const { port, ca } = relay
  const headers = { Host: `${ROOT_HOST}:${port}`, 'Accept-Encoding': 'br' }
  const asked = request({ host: '127.0.0.1', port, ca, servername: ROOT_HOST, path, headers }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return { headers: answer.headers, bytes: await buffer(answer) }
}

test.each([
  ['/docs', 'first page'],
  ['/docs/', 'first page'],
  ['/docs/guide/http', 'a page'],
  ['/docs/guide/http/', 'a page'],
])('%s is a page', async (path, text) => {
  const answer = await get(path)
  expect(answer).toMatchObject({
    status: 200,
    text,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
  })
})

test('its policy is that of all pages, and allows WebAssembly, which the search is', async () => {
  const { headers } = await get('/docs/')
  expect(`${headers['content-security-policy']}`.replace(" 'wasm-unsafe-eval'", '')).toBe(PAGE_POLICY)
  expect((await get('/about')).headers['content-security-policy']).toBe(PAGE_POLICY)
})

test("the picture of a page that chats show is at the relay's URL, compressed or not", async () => {
  const picture = `content="${relay.origin}/docs/card.jpg"`
  const plain = await get('/docs/guide/card/')
  expect(plain).toMatchObject({ status: 200, text: expect.stringContaining(picture) })
  for (const time of ['first', 'second']) {
    const { headers, bytes } = await compressed('/docs/guide/card/')
    expect(headers, time).toMatchObject({ 'content-encoding': 'br', vary: 'Accept-Encoding' })
    expect(brotliDecompressSync(bytes).toString()).toBe(plain.text)
  }
  const { etag } = (await compressed('/docs/guide/card/')).headers
  expect(
    (await get('/docs/guide/card/', { 'Accept-Encoding': 'br', 'If-None-Match': `${etag}` })).status,
  ).toBe(304)
})

test('Markdown is shown as text, a compressed file is sent, and what is named by its content is kept', async () => {
  expect(await get('/docs/guide/http.md')).toMatchObject({
    status: 200,
    headers: { 'content-type': 'text/markdown; charset=utf-8' },
  })
  expect(await get('/docs/guide/http/', { 'Accept-Encoding': 'br' })).toMatchObject({
    text: 'compressed',
    headers: { 'content-encoding': 'br', vary: 'Accept-Encoding' },
  })
  expect(await get('/docs/assets/common.aWFeheh9.css', {}, 'HEAD')).toMatchObject({
    status: 200,
    headers: { 'cache-control': 'public, max-age=31536000, immutable' },
  })
})

test.each([
  '/docs/nothing',
  '/docs/.built-from',
  '/docs/%2e%2e/operator/about.html',
  '/docs/..%2foperator/about',
  '/docsx',
])('%s is not found', async (path) => {
  expect(await get(path)).toMatchObject({ status: 404 })
})

test('a request that would change something is refused', async () => {
  expect(await get('/docs/', {}, 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
})

test('where it is not built, a text says so, and it is there as soon as it is built', async () => {
  lend('later')
  expect(await get('/docs/guide/http/')).toMatchObject({
    status: 503,
    text: expect.stringMatching(/not built.*npm run docs/),
    headers: { 'cache-control': 'no-store', 'content-security-policy': PAGE_POLICY },
  })
  expect(await get('/about')).toMatchObject({ status: 200, text: 'about' })
  lend('built')
  expect(await get('/docs/guide/http/')).toMatchObject({ status: 200 })
})

describe('a folder `docs` of the operator', () => {
  test('is served instead', async () => {
    await write(join(directory, 'operator/docs'), { 'index.html': 'our own', 'help.html': 'help' })
    for (const [path, text] of [
      ['/docs/', 'our own'],
      ['/docs/help', 'help'],
    ])
      expect(await get(`${path}`)).toMatchObject({
        text,
        headers: { 'content-security-policy': PAGE_POLICY },
      })
    expect(await get('/docs/guide/http/')).toMatchObject({ status: 404 })
    await rm(join(directory, 'operator/docs'), { recursive: true })
  })
})
