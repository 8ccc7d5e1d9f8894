// What handlers make with Node's own Response: relative redirects and bodies of Blobs are as in a page.

import { openAsBlob } from 'node:fs'
import type { FetchHandler } from '@svc/sdk-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CERTIFICATE_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { RelayDouble } from '../../../sdk-core/test/support/relay-double.ts'
import { type ExposeOptions, expose, publish } from '../../src/index.ts'

const HOST = 'demo.relay.localhost'
let relay: RelayDouble
let end: () => Promise<void>

beforeEach(async () => {
  relay = await RelayDouble.start()
})
afterEach(async () => {
  await end()
  await relay.crash()
})

type Options = Pick<ExposeOptions, 'relay' | 'ca' | 'name' | 'identity' | 'carrier'> & { fetch: FetchHandler }
type Publish = (options: Options & { relay: string }) => Promise<{ close(): Promise<void> }>

async function serve(fetch: FetchHandler, by: Publish = publish): Promise<void> {
  const identity = crypto.getRandomValues(new Uint8Array(32))
  const site = await by({
    relay: relay.url,
    ca: CERTIFICATE_PEM,
    name: 'demo',
    identity,
    carrier: 'websocket',
    fetch,
  })
  end = () => site.close()
}

async function visit(path: string, method = 'GET'): Promise<string> {
  const socket = await relay.visit(HOST)
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`)
  let text = ''
  for await (const chunk of socket) text += chunk
  return text
}

describe.each<[string, Publish]>([
  ['publish', publish],
  ['expose', expose],
])('a handler of %s', (_, by) => {
  it('redirects to where the URL leads from that of the request, also after an await', async () => {
    let origin = ''
    await serve(async (request) => {
      await request.text()
      origin = new URL(request.url).origin
      return Response.redirect(new URL(request.url).searchParams.get('to')!, 303)
    }, by)
    for (const [to, location] of [
      ['/x', '/x'],
      ['y', '/a/y'],
      ['https://other.example/', 'https://other.example/'],
    ]) {
      const answer = await visit(`/a/b?to=${encodeURIComponent(to!)}`)
      expect(answer).toMatch(/^HTTP\/1\.1 303 /)
      expect(answer.toLowerCase()).toContain(`\r\nlocation: ${new URL(location!, origin)}\r\n`)
    }
  })

  it.each([
    ['a Blob', async () => new Blob(['hel', 'lo'])],
    ['a File', async () => new File(['hello'], 'name')],
    ['a part of a file', async () => (await openAsBlob(import.meta.filename)).slice(3, 8)],
  ])('sends the length of %s, for GET and for HEAD', async (_, body) => {
    await serve(async () => new Response(await body()), by)
    for (const method of ['GET', 'HEAD'])
      expect((await visit('/', method)).toLowerCase()).toContain('\r\ncontent-length: 5\r\n')
  })
})

it('all of a large Blob is sent', async () => {
  const large = new Blob([new Uint8Array(1024 * 1024).fill(0x61)])
  await serve(() => new Response(large))
  const answer = await visit('/')
  expect(answer.length - answer.indexOf('\r\n\r\n') - 4).toBe(large.size)
})

it('outside of a handler the platform is as it was', async () => {
  await serve(() => new Response())
  expect(() => Response.redirect('/x')).toThrow(TypeError)
  expect(Response.redirect('https://other.example/').status).toBe(302)
  expect(Blob.prototype.stream.name).toBe('stream')
  expect(Response.redirect.name).toBe('redirect')
})
