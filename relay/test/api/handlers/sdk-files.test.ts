// The SDK that a relay serves to pages of every origin, beside an operator's own pages and under every policy.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildRelayPages } from '../../../../tools/bundler/relay-pages.ts'
import { RELEASE_VERSION } from '../../../src/core/version.ts'
import { ROOT_HOST } from '../../support/relay.ts'
import { type RelayProcess, startRelayProcess } from '../../support/relay-process.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const FOR_GOOD = 'public, max-age=31536000, immutable'
const EMBEDDABLE = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
}
const JAVASCRIPT = { ...EMBEDDABLE, 'content-type': 'text/javascript; charset=utf-8' }
/** Paths that the specification gives a version check, and `/sdk.js`. */
const VERSIONED = ['/sdk.js', '/api/install/bin/js-wasm', '/api/install/bin/wasm-exec']

let directory: string
let relay: RelayProcess
beforeAll(async () => {
  await buildRelayPages()
  directory = await mkdtemp(join(tmpdir(), 'svc-sdk-files-'))
  await writeFile(join(directory, 'index.html'), 'the operator’s own page')
  await writeFile(join(directory, 'sdk.js'), 'the operator’s own file')
  relay = await startRelayProcess({ ADMIN_TOKEN, SVC_SITE_DIR: directory })
})
afterAll(async () => {
  await relay.close()
  await rm(directory, { recursive: true })
})

const get = (path: string, headers: Record<string, string> = {}) =>
  relay.call('GET', path, undefined, headers)

describe.each(VERSIONED)('%s', (path) => {
  test('is JavaScript for pages of every origin, also below pages of the operator', async () => {
    const answer = await get(path)
    expect(answer).toMatchObject({ status: 200, headers: JAVASCRIPT })
    expect(answer.text).toMatch(/publish/)
    expect(await relay.call('HEAD', path)).toMatchObject({ status: 200, text: '', headers: JAVASCRIPT })
    expect(await relay.call('POST', path)).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
    const preflight = await relay.call('OPTIONS', path)
    expect(preflight).toMatchObject({ status: 204, headers: { 'access-control-allow-origin': '*' } })
  })

  test('is kept for minutes without a version, and for good under that of the relay', async () => {
    const short = await get(path)
    expect(short.headers['cache-control']).toBe('public, max-age=300')
    const again = await get(path, { 'If-None-Match': `${short.headers.etag}` })
    expect(again).toMatchObject({ status: 304, text: '', headers: EMBEDDABLE })
    const fixed = await get(`${path}?version=${RELEASE_VERSION}`)
    expect(fixed).toMatchObject({ status: 200, text: short.text, headers: { 'cache-control': FOR_GOOD } })
  })
})

test.each(VERSIONED)('%s of another release is refused, in a comment', async (path) => {
  for (const version of ['0.0.0-other', '', `${RELEASE_VERSION}0`, '%0aalert(1)', '%E2%80%A8alert(1)']) {
    const answer = await get(`${path}?version=${version}`)
    expect(answer).toMatchObject({ status: 409, headers: { ...JAVASCRIPT, 'cache-control': 'no-store' } })
    expect(answer.text).toMatch(/^\/\/ .*\n$/)
    expect(answer.text).toContain(RELEASE_VERSION)
  }
})

test('js-wasm is the module of /sdk.js, and one line exports what the package exports', async () => {
  const { text } = await get('/sdk.js')
  expect((await get('/api/install/bin/js-wasm')).text).toBe(text)
  expect(text).toMatch(/^export \{ SvcError, publish \} from '\/sdk\/modules\/sdk-[\w-]{8}\.js'$/m)
})

describe('the modules behind it', () => {
  test('are all named by the import map, with the digest of what a browser gets', async () => {
    const { headers, text } = await get('/sdk/importmap.json')
    expect(headers).toMatchObject({ ...EMBEDDABLE, 'content-type': 'application/importmap+json' })
    const map = JSON.parse(text) as { imports: Record<string, string>; integrity: Record<string, string> }
    const entry = `${relay.origin}/sdk.js?version=${RELEASE_VERSION}`
    expect(map.imports).toEqual({ '@svc/sdk-browser': entry })
    const named = Object.keys(map.integrity)
    expect(named).toContain(entry)
    const texts = await Promise.all(
      named.map(async (url) => {
        const answer = await get(url.slice(relay.origin.length))
        expect(answer).toMatchObject({ status: 200, headers: { ...JAVASCRIPT, 'cache-control': FOR_GOOD } })
        const digest = createHash('sha384').update(answer.text).digest('base64')
        expect(map.integrity[url]).toBe(`sha384-${digest}`)
        return answer.text
      }),
    )
    const imported = texts.flatMap((code) => [
      ...code.matchAll(/(?:from|import)\s*\(?\s*["'`](?:\.\/|\/sdk\/modules\/)([^"'`]+)/g),
    ])
    expect(imported.length).toBeGreaterThan(10)
    for (const [, name] of imported) expect(named).toContain(`${relay.origin}/sdk/modules/${name}`)
  })

  test('are sent compressed', async () => {
    const [, path = ''] = /'(\/sdk\/modules\/sdk-[^']+)'/.exec((await get('/sdk.js')).text) ?? []
    const plain = await fetchBytes(path, 'identity')
    expect(brotliDecompressSync(await fetchBytes(path, 'br, gzip'))).toEqual(plain)
    expect(gunzipSync(await fetchBytes(path, 'gzip'))).toEqual(plain)
    expect((await get(path)).headers.vary).toBe('Accept-Encoding')
  })

  test.each([
    'sdk-00000000.js',
    '',
    '..%2f..%2findex.html',
    'manifest.json',
    '.built-from',
    'sdk-00000000.js.br',
  ])('%s is none of them', async (name) => {
    const answer = await get(`/sdk/modules/${name}`)
    expect(answer).toMatchObject({ status: 404, headers: { ...JAVASCRIPT, 'cache-control': 'no-store' } })
    expect(answer.text).toMatch(/^\/\/ .*\n$/)
  })
})

test('the policy that hides the landing page does not hide it', async () => {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` }
  const { data } = (await relay.call('GET', '/api/policy', undefined, headers)).json
  await relay.call('POST', '/api/policy', { ...(data as object), landing_page_enabled: false }, headers)
  expect(await get('/')).toMatchObject({ status: 404 })
  for (const path of [...VERSIONED, '/sdk/importmap.json'])
    expect(await get(path)).toMatchObject({ status: 200 })
})

/** The bytes of a body as they are sent. */
async function fetchBytes(path: string, encoding: string): Promise<Buffer> {
  const headers = { Host: `${ROOT_HOST}:${relay.port}`, 'Accept-Encoding': encoding }
  const { port, ca } = relay
  const options = { host: '127.0.0.1', servername: ROOT_HOST, port, ca, path, headers, agent: false }
  const [response] = await once(request(options).end(), 'response')
  return Buffer.concat(await response.toArray())
}
