// `fetch` for the control plane, against a real HTTPS server.

import { once } from 'node:events'
import { openAsBlob } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { localhostLookup } from '../../src/net/localhost-lookup.ts'
import { RelayFetch } from '../../src/net/relay-fetch.ts'

let server: Server
let origin: string
const connections = new Set<Socket>()
/** Answers to `/late` that a test ends. */
const late: (() => void)[] = []
let received: { method: string; type: string | undefined; cookie: string | undefined; body: string }[]

/** Requests to `/stuck`, whose bodies are read when a test does it. */
let stuck: IncomingMessage[] = []
/** The fate of a body to `/refused`. */
let refusedBytes = 0

/** Answers at once, and reads on as a relay does. */
function refuse(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(403).end('no')
  request.on('error', () => {})
  request.on('data', (bytes: Buffer) => {
    refusedBytes += bytes.length
  })
}

beforeAll(async () => {
  server = createServer({ cert: CERTIFICATE_PEM, key: PRIVATE_KEY_PEM }, async (request, response) => {
    const { method = '', headers } = request
    if (request.url === '/refused') return refuse(request, response)
    if (request.url === '/stuck') {
      stuck.push(request.on('error', () => {}))
      return
    }
    received.push({
      method,
      type: headers['content-type'],
      cookie: headers.cookie,
      body: await text(request),
    })
    if (request.url === '/late') late.push(() => response.end('late'))
    else if (request.url === '/elsewhere') response.writeHead(302, { Location: `${origin}/` }).end()
    else if (request.url === '/cut') response.writeHead(200, { 'Content-Length': '10' }).write('half')
    else response.setHeader('Retry-After', '7').setHeader('Set-Cookie', 'a=b').end('answer')
    if (request.url === '/cut') setImmediate(() => request.socket.destroy())
  })
  server.on('secureConnection', (socket) => {
    connections.add(socket)
    socket.on('close', () => connections.delete(socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `https://relay.localhost:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())
beforeEach(() => {
  received = []
  stuck = []
  for (const socket of connections) socket.destroy()
})

function client(): RelayFetch {
  return new RelayFetch(() => new Agent({ ca: CERTIFICATE_PEM, lookup: localhostLookup, keepAlive: true }))
}
function get(signal: AbortSignal = new AbortController().signal) {
  return { method: 'GET', headers: {}, signal } as const
}

it('sends a body with its fields, and gives status, fields and body of the answer', async () => {
  const { signal } = new AbortController()
  const headers = { 'Content-Type': 'application/json' }
  const answer = await client().fetch(`${origin}/`, { method: 'POST', headers, body: '{"ä":1}', signal })
  expect(answer).toMatchObject({ status: 200, ok: true })
  expect(answer.headers.get('Retry-After')).toBe('7')
  expect(answer.headers.get('Missing')).toBeNull()
  expect(await text(answer.body!)).toBe('answer')
  expect(received).toEqual([{ method: 'POST', type: 'application/json', cookie: undefined, body: '{"ä":1}' }])
})

it('uses a connection again, and sends no cookie on it', async () => {
  const one = client()
  for (let times = 0; times < 3; times++) await text((await one.fetch(`${origin}/`, get())).body!)
  expect(connections.size).toBe(1)
  expect(received.map(({ cookie }) => cookie)).toEqual([undefined, undefined, undefined])
})

it('follows no redirect', async () => {
  expect(await client().fetch(`${origin}/elsewhere`, get())).toMatchObject({ status: 302, ok: false })
  expect(received.length).toBe(1)
})

it('ends with its signal, before the answer and within it', async () => {
  const reason = new Error('no longer wanted')
  const controller = new AbortController()
  const answer = client().fetch(`${origin}/late`, get(controller.signal))
  await vi.waitFor(() => expect(late.length).toBe(1))
  controller.abort(reason)
  await expect(answer).rejects.toThrow()
  await vi.waitFor(() => expect(connections.size).toBe(0))
})

it('fails the body of an answer that breaks off', async () => {
  const answer = await client().fetch(`${origin}/cut`, get())
  await expect(text(answer.body!)).rejects.toThrow()
})

it('refuses a relay that the authority did not sign', async () => {
  await expect(
    new RelayFetch(() => new Agent({ lookup: localhostLookup })).fetch(`${origin}/`, get()),
  ).rejects.toThrow()
  expect(received).toEqual([])
})

it('forgets connections that are kept, and lets a request under way end', async () => {
  const one = client()
  await text((await one.fetch(`${origin}/`, get())).body!)
  const underWay = one.fetch(`${origin}/late`, get())
  late.length = 0
  await vi.waitFor(() => expect(late.length).toBe(1))
  const [before] = connections
  one.forgetConnections()
  await text((await one.fetch(`${origin}/`, get())).body!)
  expect(connections.size).toBe(2)
  late[0]!()
  expect(await text((await underWay).body!)).toBe('late')
  // The connection of that request is not kept.
  await vi.waitFor(() => expect(connections.has(before!)).toBe(false))
})

it('forgets connections once for all sites that lost their relay, and keeps those that they opened since', async () => {
  const one = client()
  await text((await one.fetch(`${origin}/`, get())).body!)
  one.forgetConnections()
  await text((await one.fetch(`${origin}/`, get())).body!)
  one.forgetConnections()
  await vi.waitFor(() => expect(connections.size).toBe(1))
  const [kept] = connections
  await text((await one.fetch(`${origin}/`, get())).body!)
  expect([...connections]).toEqual([kept])
})

it('sends a form part by part, in order', async () => {
  const form = new FormData()
  form.append('manifest', '{"files":[]}')
  form.append('object', new Blob(['first']), 'object')
  form.append('object', new File(['second'], 'secret-name.txt'), 'object')
  const { signal } = new AbortController()
  const answer = await client().fetch(`${origin}/`, { method: 'PUT', headers: {}, body: form, signal })
  expect(answer.status).toBe(200)
  const { method, type, body } = received[0]!
  expect(method).toBe('PUT')
  const parts = await new Response(body, { headers: { 'Content-Type': type! } }).formData()
  expect([...parts.keys()]).toEqual(['manifest', 'object', 'object'])
  expect(parts.get('manifest')).toBe('{"files":[]}')
  const objects = parts.getAll('object') as unknown as File[]
  expect(await Promise.all(objects.map((part) => part.text()))).toEqual(['first', 'second'])
  expect(body).not.toContain('secret-name')
})

it('gives the answer of a server that refuses a form before it has it, and sends no more', async () => {
  const form = new FormData()
  const part = new Blob([new Uint8Array(1024 * 1024)])
  for (let i = 0; i < 64; i++) form.append('object', part, 'object')
  const { signal } = new AbortController()
  const refused = await client().fetch(`${origin}/refused`, {
    method: 'PUT',
    headers: {},
    body: form,
    signal,
  })
  expect(refused.status).toBe(403)
  expect(await new Response(refused.body).text()).toBe('no')
  await vi.waitFor(() => expect(connections.size).toBe(0))
  expect(refusedBytes).toBeLessThan(part.size * 64)
})

it('rejects when a file of a form changed before it was sent', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-form-'))
  const file = path.join(folder, 'a.txt')
  await writeFile(file, 'before')
  const form = new FormData()
  form.append('object', await openAsBlob(file), 'object')
  await writeFile(file, 'another text')
  const { signal } = new AbortController()
  const sent = client().fetch(`${origin}/stuck`, { method: 'PUT', headers: {}, body: form, signal })
  await expect(sent).rejects.toThrow(/could not be read/)
  await rm(folder, { recursive: true })
})

it('ends a form under way with its signal', async () => {
  const form = new FormData()
  for (let i = 0; i < 64; i++) form.append('object', new Blob([new Uint8Array(1024 * 1024)]), 'object')
  const controller = new AbortController()
  const { signal } = controller
  const sent = client().fetch(`${origin}/stuck`, { method: 'PUT', headers: {}, body: form, signal })
  sent.catch(() => {})
  await vi.waitFor(() => expect(stuck.length).toBe(1))
  controller.abort()
  await expect(sent).rejects.toMatchObject({ name: 'AbortError' })
  stuck[0]!.resume()
  await vi.waitFor(() => expect(connections.size).toBe(0))
})
