// Real clients, Node's and curl's, through TLS and ALPN over real sockets: bodies both ways, many streams, leaving midway.

import { execFile, execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { ServerConfig } from '@svc/tls'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeIdentity } from '../../../tls/test/support/certificates.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { serveHttp2 } from '../../src/http2/connection.ts'
import { TlsStream } from '../../src/tenant/tls-stream.ts'
import { serveConnection } from '../../src/tenant/visitor-connection.ts'
import { listen } from '../support/socket-stream.ts'

const SIZE = 20 * 1024 * 1024
const content = randomBytes(SIZE)
const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const expected = digest(content)

const identity = makeIdentity('ec')
const tenant: ServerConfig = { ...identity.config, alpn: ['h2', 'http/1.1'] }
const errors: unknown[] = []
let server: Server
let origin: string
let folder: string
let client: ClientHttp2Session

async function fetch(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/content') return new Response(content)
  if (pathname === '/stream') return new Response(new Blob([content]).stream())
  if (pathname === '/echo') return new Response(request.body)
  if (pathname === '/empty') return new Response(null, { status: 204 })
  if (pathname === '/redirect') return new Response(null, { status: 303, headers: { location: '/' } })
  if (pathname === '/large') return new Response('too large', { status: 413 })
  if (pathname === '/accepted') return new Response('later', { status: 202 })
  if (pathname === '/empty-202') return new Response(null, { status: 202 })
  if (pathname === '/pieces') return new Response(new Blob(['early']).stream())
  if (pathname === '/headers') return new Response(request.headers.get('x-octets'))
  if (pathname === '/aborted')
    return new Promise((resolve) => request.signal.addEventListener('abort', () => resolve(new Response())))
  if (pathname === '/digest') {
    const hash = createHash('sha256')
    for await (const bytes of request.body ?? []) hash.update(bytes)
    return new Response(hash.digest('hex'))
  }
  return new Response(pathname)
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'http2-interop-'))
  writeFileSync(join(folder, 'content'), content)
  const options = {
    fetch,
    isOwnHost: (host: string) => host === 'localhost',
    canonicalUrl: 'https://localhost/',
    onError: (error: unknown) => errors.push(error),
  }
  const listening = await listen(options, (stream, http) =>
    serveConnection(new TlsStream(stream, tenant), http, { serveHttp2 }),
  )
  server = listening.server
  origin = `https://localhost:${listening.port}`
})

afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
  expect(errors).toEqual([])
})

beforeEach(() => {
  client = connect(origin, {
    ca: identity.pem,
    // Node counts what it has to send, too, in megabytes, and gives up above 10.
    maxSessionMemory: 100,
    lookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  })
})
afterEach(() => client.destroy())

async function read(stream: ClientHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function ask(path: string, body?: Uint8Array, headers: OutgoingHttpHeaders = {}): Promise<Buffer> {
  const stream = client.request({ ':path': path, ':method': body ? 'POST' : 'GET', ...headers })
  stream.end(body)
  return read(stream)
}

async function curl(...options: string[]): Promise<string> {
  const port = new URL(origin).port
  const common = [
    '--silent',
    '--show-error',
    '--noproxy',
    '*',
    '--cacert',
    identity.file,
    '--resolve',
    `localhost:${port}:127.0.0.1`,
  ]
  return (await promisify(execFile)('curl', [...common, ...options])).stdout
}

wholeOnly(test, 'depth')(
  'Node downloads 20 MiB, uploads them, and gets them back while it sends them',
  async () => {
    expect(digest(await ask('/content'))).toBe(expected)
    expect(digest(await ask('/stream'))).toBe(expected)
    expect(String(await ask('/digest', content))).toBe(expected)
    expect(digest(await ask('/echo', content))).toBe(expected)
  },
)

wholeOnly(test, 'depth')('Node has 100 requests at once on one connection, over and over', async () => {
  for (let round = 0; round < 10; round++) {
    const paths = Array.from({ length: 100 }, (_, i) => `/${round}/${i}`)
    const answers = await Promise.all(paths.map((path) => ask(path)))
    expect(answers.map(String)).toEqual(paths)
  }
})

wholeOnly(test, 'variant')(
  'what Node compresses, with its table and Huffman coding, is what the handler gets',
  async () => {
    const values = Array.from(
      { length: 300 },
      (_, i) => `${'!"#$%&\'()*+,-./:;<=>?@[]^_`{|}~ aZ09'.slice(i % 30)}${i % 50}`,
    )
    for (const value of values)
      expect(String(await ask('/headers', undefined, { 'x-octets': value }))).toBe(value)
  },
)

wholeOnly(test, 'variant')(
  'Node pings, changes its settings, and is told that the site takes extended CONNECT',
  async () => {
    await ask('/')
    expect(client.remoteSettings).toMatchObject({
      maxConcurrentStreams: 128,
      initialWindowSize: 256 * 1024,
      maxHeaderListSize: 64 * 1024,
      enableConnectProtocol: true,
    })
    await new Promise<void>((resolve, reject) => client.ping((error) => (error ? reject(error) : resolve())))
    await new Promise<void>((resolve) =>
      client.settings({ headerTableSize: 0, initialWindowSize: 20_000 }, () => resolve()),
    )
    expect(digest(await ask('/content'))).toBe(expected)
  },
)

test('Node cancels a request: the signal of that one fires', async () => {
  const stream = client.request({ ':path': '/aborted' })
  expect(String(await ask('/other'))).toBe('/other')
  const closed = new Promise((resolve) => stream.on('close', resolve))
  stream.close(constants.NGHTTP2_CANCEL)
  await closed
  expect(String(await ask('/again'))).toBe('/again')
})

test('Node waits for 100 Continue', async () => {
  const stream = client.request({ ':path': '/echo', ':method': 'POST', expect: '100-continue' })
  await new Promise<void>((resolve) => stream.on('continue', resolve))
  stream.end('invited')
  expect(String(await read(stream))).toBe('invited')
})

test('curl speaks HTTP/2 when it is offered, downloads and uploads', async () => {
  const version = ['--write-out', ' %{http_version}', `${origin}/a`]
  expect(await curl('--http2', ...version)).toBe('/a 2')
  expect(await curl('--http1.1', ...version)).toBe('/a 1.1')
  expect(await curl('--http2', '--data-binary', `@${join(folder, 'content')}`, `${origin}/digest`)).toBe(
    expected,
  )
  expect(await curl('--http2', '--head', `${origin}/a`)).toMatch(/^HTTP\/2 200 \r\n/)
})

test('curl asks for 50 at once over one connection', async () => {
  const log = await curl(
    '--http2',
    '--parallel',
    '--parallel-max',
    '50',
    '--write-out',
    '%{num_connects}\n',
    '-o',
    '/dev/null',
    `${origin}/[1-50]`,
  )
  const connects = log.trim().split('\n').map(Number)
  expect(connects).toHaveLength(50)
  expect(connects.reduce((sum, count) => sum + count)).toBeLessThan(5)
})

test.each([
  ['/empty', '204'],
  ['/redirect', '303'],
  ['/pieces', '200'],
])('curl, which sends a form after the whole response of %s, is content with it', async (path, status) => {
  // curl writes its trace between head and body. The pipe holds less than that, and is read when the response has come.
  const trace = join(folder, `trace${path.replace('/', '-')}`)
  execFileSync('mkfifo', [trace])
  const pipe = await open(trace, 'r+')
  const head = ['--trace', trace, '--header', `X-Filler: ${'x'.repeat(30_000)}`, '--data', 'name=Ann']
  const said = curl('--http2', '--write-out', '%{http_code}', '-o', '/dev/null', ...head, origin + path)
  await pause(300)
  const drained = pipe.createReadStream()
  drained.resume()
  try {
    expect(await said).toBe(status)
  } finally {
    drained.destroy()
  }
})

test('curl sees a refusal before it has sent a large body', async () => {
  const upload = ['--data-binary', `@${join(folder, 'content')}`, '--header', 'Host: other.example']
  expect(await curl('--http2', '--include', ...upload, `${origin}/digest`)).toMatch(/HTTP\/2 421 /)
})

test('curl gets a 413 to 1 MB that it still sends, with and without its length', async () => {
  const upload = join(folder, 'upload')
  writeFileSync(upload, content.subarray(0, 1_000_000))
  const body = ['--http2', '--header', 'Expect:', '--data-binary', `@${upload}`]
  const said: string[] = []
  for (const framing of [[], ['--header', 'Transfer-Encoding: chunked']])
    for (let i = 0; i < 3; i++)
      said.push(await curl(...body, ...framing, '-w', '%{http_code}', '-o', '/dev/null', `${origin}/large`))
  expect(said).toEqual(Array(6).fill('413'))
})

test.each(['/accepted', '/empty-202'])(
  'curl gets a 202 to 3 MB that the handler does not read: %s',
  async (path) => {
    const upload = join(folder, 'upload')
    writeFileSync(upload, content.subarray(0, 3_000_000))
    const common = [
      '--http2',
      '--max-time',
      '60',
      '-w',
      '%{http_code} %{size_upload}',
      '-o',
      '/dev/null',
      `${origin}${path}`,
    ]
    for (const body of [
      ['-T', upload],
      ['--header', 'Transfer-Encoding: chunked', '--data-binary', `@${upload}`],
    ])
      expect(await curl(...body, '-X', 'POST', ...common)).toBe('202 3000000')
  },
)
