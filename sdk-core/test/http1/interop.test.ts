// Real clients, curl and Node's, over real sockets: large bodies both ways, reuse, pipelining, and leaving midway.

import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request as nodeRequest } from 'node:http'
import { connect, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { listen } from '../support/socket-stream.ts'

const run = promisify(execFile)
const SIZE = 20 * 1024 * 1024
const content = randomBytes(SIZE)
const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const expected = digest(content)

let server: Server
let port: number
let folder: string
const errors: unknown[] = []
const visits: { request: Request; left: Promise<void> }[] = []

async function fetch(request: Request): Promise<Response> {
  const left = new Promise<void>((resolve) => request.signal.addEventListener('abort', () => resolve()))
  visits.push({ request, left })
  const { pathname } = new URL(request.url)
  if (pathname === '/content') return new Response(content)
  if (pathname === '/stream') return new Response(new Blob([content]).stream())
  if (pathname === '/echo') return new Response(request.body)
  if (pathname === '/never') return new Promise(() => {})
  if (pathname === '/endless')
    return new Response(
      new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }),
    )
  if (pathname === '/digest') {
    const hash = createHash('sha256')
    for await (const bytes of request.body ?? []) hash.update(bytes)
    return new Response(hash.digest('hex'))
  }
  return new Response(pathname)
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'http-interop-'))
  writeFileSync(join(folder, 'content'), content)
  const options = {
    fetch,
    isOwnHost: (host: string) => host === '127.0.0.1',
    canonicalUrl: 'https://127.0.0.1/',
    onError: (error: unknown) => errors.push(error),
  }
  ;({ server, port } = await listen(options))
})

afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
  expect(errors).toEqual([])
})

const at = (path: string): string => `http://127.0.0.1:${port}${path}`
async function curl(...options: string[]): Promise<string> {
  const { stdout } = await run('curl', ['--silent', '--show-error', '--noproxy', '*', ...options])
  return stdout
}

test.each(['/content', '/stream'])('curl downloads 20 MiB from %s', async (path) => {
  const file = join(folder, 'down')
  await curl('--fail', '--output', file, at(path))
  expect(digest(readFileSync(file))).toBe(expected)
})

test.each([
  ['with Content-Length, after 100 Continue', ['Expect: 100-continue']],
  ['without waiting', ['Expect:']],
  ['chunked', ['Transfer-Encoding: chunked']],
])('curl uploads 20 MiB %s', async (_, headers) => {
  const options = headers.flatMap((header) => ['--header', header])
  expect(await curl('--data-binary', `@${join(folder, 'content')}`, ...options, at('/digest'))).toBe(expected)
})

test('curl gets its upload back while it sends it', async () => {
  const file = join(folder, 'echo')
  await curl('--upload-file', join(folder, 'content'), '--output', file, at('/echo'))
  expect(digest(readFileSync(file))).toBe(expected)
})

test('curl reuses a connection, with HEAD, OPTIONS and HTTP/1.0 in between', async () => {
  const log = await curl('--write-out', ' %{num_connects}\n', at('/a'), at('/b'), at('/c'))
  expect(log).toBe('/a 1\n/b 0\n/c 0\n')
  expect(await curl('--head', at('/a'))).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(await curl('--http1.0', at('/old'))).toBe('/old')
  expect(await curl('--include', '--request', 'OPTIONS', '--request-target', '*', at('/'))).toMatch(
    /^HTTP\/1\.1 204 /,
  )
})

test('curl sees a refusal before it has sent a large body', async () => {
  const answer = await curl(
    '--include',
    '--data-binary',
    `@${join(folder, 'content')}`,
    '--header',
    'Host: other.example',
    at('/digest'),
  )
  expect(answer).toMatch(/HTTP\/1\.1 421 misdirected request\r\n/)
})

test('Node’s client keeps one connection alive for many requests, and 20 MiB go both ways', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (path: string, body?: Uint8Array): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const outgoing = nodeRequest(
        at(path),
        { agent, method: body ? 'POST' : 'GET' },
        async (response: IncomingMessage) => {
          const chunks: Buffer[] = []
          for await (const chunk of response) chunks.push(chunk)
          resolve(Buffer.concat(chunks))
        },
      )
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  const connections = new Set<number | undefined>()
  agent.on('free', (socket) => connections.add(socket.localPort))
  for (let i = 0; i < 50; i++) expect(String(await ask(`/${i}`))).toBe(`/${i}`)
  expect(String(await ask('/digest', content))).toBe(expected)
  expect(digest(await ask('/echo', content))).toBe(expected)
  expect(connections.size).toBe(1)
  agent.destroy()
})

test('pipelined requests over a socket are answered in order', async () => {
  const socket = connect(port, '127.0.0.1')
  const paths = Array.from({ length: 200 }, (_, i) => `/${i}`)
  socket.end(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`).join(''))
  let text = ''
  for await (const chunk of socket) text += chunk
  expect([...text.matchAll(/\r\n\r\n(\/\d+)/g)].map((match) => match[1])).toEqual(paths)
})

wholeOnly(test, 'clock').each(['/never', '/endless'])(
  'curl is killed while it waits for %s: the signal fires',
  async (path) => {
    const client = spawn('curl', ['--silent', '--noproxy', '*', '--output', join(folder, 'cut'), at(path)])
    const before = visits.length
    while (visits.length === before) await new Promise((resolve) => setTimeout(resolve, 5))
    client.kill('SIGKILL')
    await visits[before]!.left
  },
)

test('an upload that is cut off tells the handler', async () => {
  const before = visits.length
  const socket = connect(port, '127.0.0.1')
  socket.write('POST /digest HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nbeginning')
  while (visits.length === before) await new Promise((resolve) => setTimeout(resolve, 5))
  socket.destroy()
  await visits[before]!.left
})
