// The CA page of a relay on localhost: its files are the certificate and nothing else. Other relays have no such page.

import { execFile, execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildRelayPages } from '../../../../tools/bundler/relay-pages.ts'
import { PKCS12_PASSWORD } from '../../../src/core/certificates/ca-export.ts'
import { createCa, createLeaf } from '../../../src/core/certificates/development-ca.ts'
import { createLog } from '../../../src/core/log/log.ts'
import { type Relay, readSettings, startRelay } from '../../../src/index.ts'
import { freePort, ROOT_HOST, startTestRelay, type TestRelay } from '../../support/relay.ts'

const FILES = ['/ca.pem', '/ca.der', '/ca.p12', '/ca.mobileconfig']
const run = promisify(execFile)

const openssl = (args: string[], input: Uint8Array): Buffer =>
  execFileSync('openssl', args, { input, stdio: 'pipe' })

/** With curl, because the bodies are not text. */
async function download(
  host: string,
  port: number,
  caFile: string,
  path: string,
  ...args: string[]
): Promise<Buffer> {
  const resolve = ['--resolve', `${host}:${port}:127.0.0.1`]
  const line = ['--silent', '--cacert', caFile, ...resolve, ...args, `https://${host}:${port}${path}`]
  return (await run('curl', line, { encoding: 'buffer' })).stdout
}

beforeAll(async () => void (await buildRelayPages()))

describe('a relay on localhost', () => {
  let relay: TestRelay
  let caFile: string
  let raw: Buffer
  beforeAll(async () => {
    relay = await startTestRelay()
    caFile = join(relay.directory, 'ca.pem')
    raw = new X509Certificate(await readFile(caFile)).raw
  })
  afterAll(() => relay.close())
  const get = (path: string, ...args: string[]) => download(ROOT_HOST, relay.port, caFile, path, ...args)

  test.each(['/ca', '/ca/'])('%s is a page', async (path) => {
    const { status, text } = await relay.call('GET', path)
    expect([status, text]).toEqual([200, expect.stringContaining('<title>svc</title>')])
  })

  test.each<[string, string, string, (file: Buffer) => Buffer]>([
    [
      '/ca.pem',
      'application/x-pem-file',
      'attachment; filename="svc-ca.pem"',
      (file) => openssl(['x509', '-outform', 'DER'], file),
    ],
    [
      '/ca.der',
      'application/x-x509-ca-cert',
      'inline; filename="svc-ca.crt"',
      (file) => openssl(['x509', '-inform', 'DER', '-outform', 'DER'], file),
    ],
    [
      '/ca.p12',
      'application/x-pkcs12',
      'attachment; filename="svc-ca.p12"',
      (file) =>
        openssl(
          ['x509', '-outform', 'DER'],
          openssl(['pkcs12', '-nokeys', '-passin', `pass:${PKCS12_PASSWORD}`], file),
        ),
    ],
    [
      '/ca.mobileconfig',
      'application/x-apple-aspen-config',
      'inline; filename="svc-ca.mobileconfig"',
      (file) => Buffer.from(/<data>([^<]+)<\/data>/.exec(file.toString())![1]!, 'base64'),
    ],
  ])('%s is the certificate', async (path, type, disposition, read) => {
    const file = await get(path)
    expect(read(file)).toEqual(raw)
    const { status, headers, text } = await relay.call('HEAD', path)
    expect({ status, text, headers }).toMatchObject({
      status: 200,
      text: '',
      headers: {
        'content-type': type,
        'content-disposition': disposition,
        'content-length': `${file.length}`,
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
      },
    })
    const again = await relay.call('GET', path, undefined, { 'If-None-Match': `${headers.etag}` })
    expect(again).toMatchObject({ status: 304, text: '', headers: { etag: headers.etag } })
  })

  test('no file has the key of the CA, in no encoding', async () => {
    const pem = await readFile(join(relay.directory, 'ca-key.pem'), 'utf8')
    const key = openssl(['pkey', '-outform', 'DER'], Buffer.from(pem))
    const { d } = JSON.parse(
      execFileSync(process.execPath, [
        '-e',
        'console.log(JSON.stringify(crypto.createPrivateKey(require("fs").readFileSync(process.argv[1])).export({format:"jwk"})))',
        join(relay.directory, 'ca-key.pem'),
      ]).toString(),
    )
    const secret = Buffer.from(d, 'base64url')
    expect(key.includes(secret)).toBe(true)
    for (const path of FILES) {
      const file = await get(path)
      expect(file.includes('PRIVATE KEY')).toBe(false)
      expect(file.includes(secret)).toBe(false)
      for (const line of pem.split('\n').slice(1, -2)) expect(file.includes(line)).toBe(false)
    }
    expect(
      String(
        openssl(['pkcs12', '-nocerts', '-nodes', '-passin', `pass:${PKCS12_PASSWORD}`], await get('/ca.p12')),
      ),
    ).toBe('')
  })

  test.each(['/ca-key.pem', '/ca.key', '/ca.jks', '/ca.pem/', '/privatekey.pem', '/ca.pem.br'])(
    '%s is not found',
    async (path) => {
      expect(await relay.call('GET', path)).toMatchObject({ status: 404, text: 'Not found\n' })
    },
  )

  test('they take GET and HEAD alone, and are for the name of the relay', async () => {
    expect(await relay.call('POST', '/ca.pem')).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD' },
    })
    for (const path of ['/ca', ...FILES])
      expect(await relay.call('GET', path, undefined, { Host: 'evil.example' })).toMatchObject({
        status: 421,
      })
  })
})

test("an operator's own pages do not take the files away, nor is there a page where they have none", async () => {
  const directory = await mkdtemp(join(tmpdir(), 'svc-own-'))
  await writeFile(join(directory, 'index.html'), 'own')
  const relay = await startTestRelay({ SVC_SITE_DIR: directory })
  expect(await relay.call('GET', '/ca.pem')).toMatchObject({ status: 200, text: relay.ca })
  expect(await relay.call('GET', '/ca')).toMatchObject({ status: 404 })
  await relay.close()
  await rm(directory, { recursive: true })
})

describe('a relay on a public host', () => {
  const HOST = 'relay.example.com'
  let directory: string
  let relay: Relay
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-public-'))
    const authority = createCa(HOST)
    const leaf = createLeaf(authority, HOST)
    // also the files of a CA that are there from another time
    const files = {
      'ca.pem': authority.certificate,
      'ca-key.pem': authority.key,
      'fullchain.pem': leaf.chain,
      'privatekey.pem': leaf.key,
    }
    for (const [name, text] of Object.entries(files))
      await writeFile(join(directory, name), text, { mode: 0o600 })
    const port = await freePort()
    const env = { SVC_URL: `https://${HOST}:${port}`, IDENTITY_PATH: directory }
    relay = await startRelay(readSettings(env), createLog('silent'))
  })
  afterAll(async () => {
    await relay.close()
    await rm(directory, { recursive: true })
  })

  test.each(['/ca', '/ca/', '/ca/index.html', '/%63a', '//ca//', '/ca/index', ...FILES])(
    '%s is not found',
    async (path) => {
      const status = ['--output', '/dev/null', '--path-as-is', '--write-out', '%{http_code}']
      expect(String(await download(HOST, relay.port, join(directory, 'ca.pem'), path, ...status))).toBe('404')
    },
  )

  test('its other pages are there', async () => {
    expect(String(await download(HOST, relay.port, join(directory, 'ca.pem'), '/sites'))).toContain(
      '<title>svc</title>',
    )
  })
})
