// A relay of the family that has no `/sdk/certificate-chain`: Node takes the chain that the relay shows over TLS.

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:https'
import { dirname, join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import type { FetchInit } from '@svc/sdk-core'
import { afterAll, beforeAll, it as every, expect } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { nodePlatform } from '../../src/platform.ts'
import { exposeAt, TEST_TIMEOUT_MS, text, visit } from '../support/exposed.ts'
import { freePort, startTestRelay, type TestRelay } from '../support/relay.ts'

const it = wholeOnly(every, 'clock')

const HOST = 'relay.localhost'
/** Answers `/sdk/certificate-chain` in place of the relay. */
let missing: { status: number; type: string; body: string }
let asked = 0
let relay: TestRelay
let origin: string
let front: Server

/** The relay's certificate, and all of its endpoints but one. */
beforeAll(async () => {
  const port = await freePort()
  origin = `https://${HOST}:${port}`
  relay = await startTestRelay({ SVC_URL: origin })
  const read = (name: string) => readFile(join(dirname(relay.caFile), name), 'utf8')
  const [cert, key] = await Promise.all([read('fullchain.pem'), read('privatekey.pem')])
  const behind = { host: '127.0.0.1', port: relay.port, servername: HOST, ca: relay.ca }
  // By default it closes a connection after 5 s, just when the SDK of a busy machine asks on it again.
  front = createServer({ cert, key, keepAliveTimeout: TEST_TIMEOUT_MS }, (incoming, outgoing) => {
    if (incoming.url === '/sdk/certificate-chain') {
      asked += 1
      outgoing.writeHead(missing.status, { 'Content-Type': missing.type }).end(missing.body)
      return
    }
    const { method, url: path, headers } = incoming
    const passed = request({ ...behind, agent: false, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  front.on('upgrade', (incoming, socket: TLSSocket, head: Buffer) => {
    const to = connect({ ...behind, ALPNProtocols: ['http/1.1'] })
    for (const end of [socket, to])
      end.on('error', () => {}).on('close', () => [socket, to].map((one) => one.destroy()))
    const fields = incoming.rawHeaders
      .map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
      .join('')
    to.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${fields}\r\n`)
    to.write(head)
    socket.pipe(to).pipe(socket)
  })
  await once(front.listen(port, '127.0.0.1'), 'listening')
})
afterAll(async () => {
  front.closeAllConnections()
  front.close()
  await relay.close()
})

it.each([
  { status: 404, type: 'text/plain', body: '404 page not found' },
  { status: 405, type: 'application/json', body: '{}' },
  { status: 200, type: 'text/html; charset=utf-8', body: '<!doctype html>' },
])('a site comes online where the endpoint answers %j', async (answer) => {
  missing = answer
  asked = 0
  const site = await exposeAt(relay, { relay: origin, fetch: () => new Response('hello'), carrier: 'native' })
  try {
    expect(asked).toBeGreaterThan(0)
    expect(await text(await visit(relay, site.sites[0]!.url))).toBe('hello')
  } finally {
    await site.close()
  }
})

it('a relay that refuses to tell the chain is believed', async () => {
  missing = {
    status: 403,
    type: 'application/json',
    body: JSON.stringify({ ok: false, error: { code: 'unauthorized', message: 'no' } }),
  }
  const { fetch } = nodePlatform({ ca: relay.ca, carrier: 'native' })
  const init: FetchInit = { method: 'GET', headers: {}, signal: AbortSignal.timeout(TEST_TIMEOUT_MS) }
  expect((await fetch(`${origin}/sdk/certificate-chain`, init)).status).toBe(403)
})

it('has what the relay sends, and nothing from the store of authorities', async () => {
  missing = { status: 404, type: 'text/plain', body: '' }
  const { fetch } = nodePlatform({ ca: relay.ca, carrier: 'native' })
  const init: FetchInit = { method: 'GET', headers: {}, signal: AbortSignal.timeout(TEST_TIMEOUT_MS) }
  const answer = await fetch(`${origin}/sdk/certificate-chain`, init)
  let chain = ''
  for await (const chunk of answer.body!) chain += Buffer.from(chunk)
  expect(chain).toBe(await readFile(join(dirname(relay.caFile), 'fullchain.pem'), 'utf8'))
})
