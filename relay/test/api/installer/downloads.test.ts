// What `/api/install` serves besides its scripts: compressed downloads, whole or in ranges, and plain ones for everybody else.

import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { curl } from '../../../../tools/programs/curl.ts'
import { RELEASE_VERSION } from '../../../src/core/version.ts'
import { directoriesOf, findDirectory, hasDownloads } from '../../../src/features/installer/directory.ts'
import { CHECKSUMS_MAX_BYTES } from '../../../src/features/installer/offer.ts'
import { renderInstallPs1, renderInstallSh } from '../../../src/features/installer/scripts.ts'
import { UNPACKED_RESPONSES_PER_NETWORK_MAX } from '../../../src/features/installer/unpacked-response.ts'
import { bundleText, writeDownloads } from '../../support/downloads.ts'
import { ROOT_HOST, startTestRelay, type TestRelay } from '../../support/relay.ts'

const PROGRAM = '#!/bin/sh\necho hello\n'
const PLAIN = 'a plain program'
/** More than the kernel keeps for a client that does not read. It compresses to a thousandth. */
const LARGE: string = '0'.repeat(64 * 1024 * 1024)

let directory: string
let relay: TestRelay
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-downloads-'))
  const texts = {
    'linux-amd64': PROGRAM,
    'darwin-arm64': PROGRAM,
    'linux-arm64': LARGE,
    'svc.mjs': bundleText('1.2.3'),
  }
  await writeDownloads(directory, texts)
  await writeFile(join(directory, 'bin/darwin-arm64'), PLAIN)
  const broken = gzipSync(LARGE)
  await writeFile(join(directory, 'bin/windows-arm64.gz'), broken.subarray(0, broken.length / 2))
  relay = await startTestRelay({ SVC_INSTALL_DIR: directory })
})
afterAll(async () => {
  await relay.close()
  await rm(directory, { recursive: true })
})

const get = (name: string, headers: Record<string, string> = {}, method = 'GET') =>
  relay.call(method, `/api/install/bin/${name}`, undefined, headers)
const bytesOf = (name: string, ...args: string[]): Promise<Buffer> =>
  curl(join(relay.directory, 'ca.pem'), '--fail', ...args, `${relay.origin}/api/install/bin/${name}`)

test('GET /sdk/domain says that there are downloads, and nothing where the installer would install nothing', async () => {
  const { json } = await relay.call('GET', '/sdk/domain')
  expect(json.data).toMatchObject({ downloads: true })
  const empty = await mkdtemp(join(tmpdir(), 'svc-no-downloads-'))
  expect(await hasDownloads(empty)).toBe(false)
  await writeFile(join(empty, 'install.sh'), '#!/bin/sh\n')
  expect(await hasDownloads(empty)).toBe(true)
  await rm(empty, { recursive: true })
})

describe('a client that does not accept gzip', () => {
  test('gets the program itself, without ranges', async () => {
    const answer = await get('linux-amd64', { Range: 'bytes=0-3' })
    expect(answer).toMatchObject({
      status: 200,
      text: PROGRAM,
      headers: {
        'content-type': 'application/octet-stream',
        vary: 'Accept-Encoding',
        'accept-ranges': 'none',
        'x-content-type-options': 'nosniff',
      },
    })
    expect(answer.headers).not.toHaveProperty('content-encoding')
    const { etag } = answer.headers
    expect(await get('linux-amd64', { 'If-None-Match': `${etag}` })).toMatchObject({ status: 304, text: '' })
    expect(await get('linux-amd64', {}, 'HEAD')).toMatchObject({ status: 200, text: '', headers: { etag } })
    expect((await get('linux-amd64', { 'Accept-Encoding': 'gzip' })).headers.etag).not.toBe(etag)
  })

  test('gets a file that is there uncompressed as it is, with ranges', async () => {
    expect(await get('darwin-arm64', { Range: 'bytes=2-6' })).toMatchObject({ status: 206, text: 'plain' })
    expect(`${await bytesOf('darwin-arm64', '--compressed')}`).toBe(PROGRAM)
  })

  test('gets a large one whole, byte for byte', async () => {
    expect((await bytesOf('linux-arm64')).equals(Buffer.from(LARGE))).toBe(true)
  })

  test('notices that a broken file ends early', async () => {
    await expect(bytesOf('windows-arm64')).rejects.toThrow()
  })

  test('is one of a few in its network that may be unpacked for at once', async () => {
    const begin = async () => {
      const socket = relay.tls(ROOT_HOST)
      socket.write(`GET /api/install/bin/linux-arm64 HTTP/1.1\r\nHost: ${ROOT_HOST}:${relay.port}\r\n\r\n`)
      await once(socket, 'readable')
      return socket
    }
    const slow = await Promise.all(Array.from({ length: UNPACKED_RESPONSES_PER_NETWORK_MAX }, begin))
    expect(await get('linux-amd64')).toMatchObject({ status: 429, json: { error: { code: 'rate_limited' } } })
    expect(await get('linux-amd64', { 'Accept-Encoding': 'gzip' })).toMatchObject({ status: 200 })
    for (const socket of slow) socket.destroy()
    await expect.poll(() => get('linux-amd64')).toMatchObject({ status: 200 })
  })
})

describe('a client that accepts gzip', () => {
  const gzip = { 'Accept-Encoding': 'gzip' }

  test('gets the compressed file, which it may resume', async () => {
    const packed = await readFile(join(directory, 'bin/linux-amd64.gz'))
    const whole = await get('linux-amd64', gzip)
    const length = `${packed.length}`
    expect(whole.headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': length })
    const { etag } = whole.headers
    const rest = { ...gzip, Range: 'bytes=10-' }
    expect(await get('linux-amd64', { ...rest, 'If-Range': `${etag}` })).toMatchObject({
      status: 206,
      headers: { 'content-range': `bytes 10-${packed.length - 1}/${packed.length}` },
    })
    expect(await get('linux-amd64', { ...rest, 'If-Range': '"another"' })).toMatchObject({ status: 200 })
    expect(`${await bytesOf('linux-amd64', '--compressed')}`).toBe(PROGRAM)
  })

  test.each(['linux-amd64', 'node'])(
    'finds %s compressed at a path of its own, whatever it accepts',
    async (name) => {
      const file = name === 'node' ? 'svc.mjs' : name
      const packed = await readFile(join(directory, `bin/${file}.gz`))
      expect(await bytesOf(`${name}.gz`)).toEqual(packed)
      expect(await bytesOf(`${name}.gz`, '--range', '5-')).toEqual(packed.subarray(5))
      const head = await get(`${name}.gz`, {}, 'HEAD')
      expect(head.headers).toMatchObject({ 'content-type': 'application/gzip', 'accept-ranges': 'bytes' })
      expect(head.headers).not.toHaveProperty('content-encoding')
      expect(`${gunzipSync(packed)}`).toBe(name === 'node' ? bundleText('1.2.3') : PROGRAM)
    },
  )
})

test('the bundle is JavaScript, and the checksums are text', async () => {
  const bundle = { status: 200, text: bundleText('1.2.3'), headers: { 'content-type': 'text/javascript' } }
  expect(await get('node')).toMatchObject(bundle)
  const text = await readFile(join(directory, 'bin/SHA256SUMS'), 'utf8')
  expect(await get('SHA256SUMS')).toMatchObject({
    status: 200,
    text,
    headers: { 'content-type': 'text/plain' },
  })
})

describe('a script', () => {
  test.each([
    ['/api/install.sh', 'text/x-shellscript'],
    ['/api/install.ps1', 'text/plain'],
  ])('%s names this relay, its release, and each download with its checksum', async (path, type) => {
    const answer = await relay.call('GET', path)
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'content-type': type, 'cache-control': 'no-cache' },
    })
    expect(answer.text).toContain(`'${relay.origin}'`)
    expect(answer.text).toContain(`'${RELEASE_VERSION}'`)
    for (const line of (await get('SHA256SUMS')).text.trim().split('\n'))
      expect(answer.text).toContain(line.slice(0, 64))
    // Windows PowerShell reads a text without a charset as Latin-1.
    expect(answer.text).toMatch(/^[\n\x20-\x7e]+$/)
    const { etag } = answer.headers
    const known = { 'If-None-Match': `${etag}` }
    expect(await relay.call('GET', path, undefined, known)).toMatchObject({ status: 304, text: '' })
    expect(await relay.call('HEAD', path)).toMatchObject({ status: 200, text: '', headers: { etag } })
  })

  test('follows the checksums, and trusts no line or file that is none', async () => {
    const sums = join(directory, 'bin/SHA256SUMS')
    const before = await readFile(sums, 'utf8')
    const sum = 'a'.repeat(64)
    const lines = [
      `${sum}  windows-amd64.gz`,
      `${sum}  $(id).gz`,
      `$(id)  linux-amd64.gz`,
      `${sum}  other.gz`,
    ]
    await writeFile(sums, `${lines.join('\r\n')}\r\n`)
    const { text } = await relay.call('GET', '/api/install.sh')
    expect(text).toContain(`sums='windows-amd64=${sum}'\n`)
    await writeFile(sums, `${lines[0]}\n${'#'.repeat(CHECKSUMS_MAX_BYTES)}\n`)
    expect((await relay.call('GET', '/api/install.sh')).text).toContain("sums=''\n")
    await writeFile(sums, before)
  })

  test('quotes what the relay is called', async () => {
    const offer = { origin: "https://it's.example", release: '1.2.3', sums: new Map() }
    expect(await renderInstallSh(offer)).toContain(`relay='https://it'\\''s.example'\n`)
    expect(await renderInstallPs1(offer)).toContain("$Relay = 'https://it''s.example'\n")
  })
})

describe('without SVC_INSTALL_DIR', () => {
  test('the downloads are those of the package, or of the checkout', async () => {
    const folders = ['/a/relay/install', '/a/artifacts/install']
    expect(directoriesOf('/a/relay/src/features/installer')).toEqual(folders)
    expect(directoriesOf('/a/relay/dist/features/installer')).toEqual(folders)
    expect(directoriesOf('/usr/bin')).toEqual([])
    expect(directoriesOf(undefined)).toEqual([])
    expect(await findDirectory(['/nowhere', directory])).toBe(directory)
    expect(await findDirectory(['/nowhere'])).toBeUndefined()
  })
})
