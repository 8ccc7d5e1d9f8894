// Client certificates at a real relay: who comes in, and what targets and handlers learn of it.

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect } from 'node:http2'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { TestAuthority } from '../../../tools/tls/test-authority.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { type ExposeOptions, type FetchInfo, publish, type SvcError } from '../../src/index.ts'
import { exposeAt, listening, text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'

const relay = useStarted(startTestRelay)
const root = TestAuthority.root()
const alice = root.client()
const mallory = root.client({ name: 'Mallory' })
const crl = root.revocationList([mallory])
const clientCertificates = { ca: root.pem, crl }
const FIELD = `:${Buffer.from(alice.der).toString('base64')}:`

const withCertificate = ({ pem, keyPem }: TestAuthority): { cert: string; key: string } => ({
  cert: pem,
  key: keyPem,
})
const ends: (() => unknown)[] = []
let http: number
let seen: IncomingMessage['headers'][]

beforeAll(async () => {
  const target = createServer(({ headers }, response) => {
    seen.push(headers)
    response.end('hello')
  })
  new WebSocketServer({ server: target }).on('connection', (socket, { headers }) => {
    seen.push(headers)
    socket.send('hello')
  })
  http = await listening(target)
  ends.push(() => {
    target.close()
    target.closeAllConnections()
  })
})
beforeEach(() => {
  seen = []
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

async function exposed(options: Partial<ExposeOptions> = {}): Promise<string> {
  const exposure = await exposeAt(relay, { http, clientCertificates, ...options })
  ends.push(() => exposure.close())
  return exposure.sites[0]!.url
}

describe('a target', () => {
  let url: string
  beforeAll(async () => {
    url = await exposed()
  })

  it('gets the certificate of a visitor, and no other', async () => {
    const forged = {
      'Client-Cert': ':AAAA:',
      client_cert: 'x',
      'X-Client-Cert': 'x',
      'Client-Cert-Chain': ':AAAA:',
    }
    const answer = await visit(relay, url, '/', { ...withCertificate(alice), headers: forged })
    expect(await text(answer)).toBe('hello')
    const fields = Object.entries(seen[0]!).filter(([name]) => /client.cert/.test(name))
    expect(fields).toEqual([
      ['client-cert', FIELD],
      ['x-client-cert', FIELD],
    ])
  })

  it('gets it over HTTP/2, too', async () => {
    const { host, hostname } = new URL(url)
    const session = connect(`https://127.0.0.1:${relay.port}`, {
      servername: hostname,
      ca: relay.ca,
      ...withCertificate(alice),
    })
    const stream = session.request({ ':authority': host, ':path': '/', 'client-cert': ':AAAA:' })
    await once(stream, 'response')
    stream.resume()
    await once(stream, 'end')
    session.close()
    expect(seen[0]).toMatchObject({ 'client-cert': FIELD, 'x-client-cert': FIELD })
  })

  it('gets it with a WebSocket', async () => {
    const { host, hostname } = new URL(url)
    const options = { servername: hostname, ca: relay.ca, ...withCertificate(alice) }
    const socket = new WebSocket(`wss://127.0.0.1:${relay.port}/`, [], {
      ...options,
      headers: { Host: host, 'Client-Cert': ':AAAA:' },
    })
    expect(String((await once(socket, 'message'))[0])).toBe('hello')
    socket.close()
    expect(seen[0]).toMatchObject({ 'client-cert': FIELD, 'x-client-cert': FIELD })
  })

  it.each([
    ['no certificate', undefined],
    ['one of another CA', TestAuthority.root({ name: 'Other' }).client()],
    ['a revoked one', mallory],
  ])('gets nothing of a visitor with %s', async (_, client) => {
    await expect(visit(relay, url, '/', client && withCertificate(client))).rejects.toThrow()
    expect(seen).toEqual([])
  })
})

it('visitors come without a certificate where none is needed, and claim none', async () => {
  const url = await exposed({ clientCertificates: { ca: root.pem, required: false } })
  const headers = { 'Client-Cert': FIELD, 'X-Client-Cert': FIELD, X_Client_Cert: FIELD }
  expect(await text(await visit(relay, url, '/', { headers }))).toBe('hello')
  expect(Object.keys(seen[0]!).filter((name) => /client.cert/.test(name))).toEqual([])
  expect(await text(await visit(relay, url, '/', withCertificate(alice)))).toBe('hello')
  expect(seen[1]).toMatchObject({ 'client-cert': FIELD })
})

it('a handler behind a sign-in of its own learns of it, too', async () => {
  const access = { bearer: 'a-token-that-is-long' }
  const url = await exposed({ access })
  const headers = { Authorization: `Bearer ${access.bearer}` }
  expect(await text(await visit(relay, url, '/', { ...withCertificate(alice), headers }))).toBe('hello')
  expect(seen[0]).toMatchObject({ 'client-cert': FIELD })
})

it('a route gets it, and a handler by info', async () => {
  const url = await exposed({
    http: undefined,
    routes: { '/app': http },
    fetch: (_, info) => new Response((info as FetchInfo).clientCertificate?.subject),
  })
  await text(await visit(relay, url, '/app', withCertificate(alice)))
  expect(seen[0]).toMatchObject({ 'client-cert': FIELD })
  expect(await text(await visit(relay, url, '/', withCertificate(alice)))).toBe('CN=Alice')
})

it('publish asks for certificates over every carrier', async () => {
  for (const carrier of ['native', 'websocket'] as const) {
    const site = await publish({
      relay: relay.origin,
      ca: relay.ca,
      carrier,
      name: `mutual-${carrier.slice(0, 3)}`,
      identity: new Uint8Array(32).fill(carrier.length),
      fetch: (_, { clientCertificate }) =>
        Response.json(clientCertificate && { ...clientCertificate, der: undefined }),
      tls: { clientCertificates },
    })
    const answer = await visit(relay, site.url, '/', withCertificate(alice))
    expect(JSON.parse(await text(answer))).toMatchObject({ subject: 'CN=Alice', issuer: 'CN=Test CA' })
    await expect(visit(relay, site.url)).rejects.toThrow()
    await site.close()
  }
})

it('a visitor of TLS 1.2 is asked, too', async () => {
  const url = await exposed({ tlsMinVersion: 'TLSv1.2' })
  const old = { maxVersion: 'TLSv1.2' as const }
  expect(await text(await visit(relay, url, '/', { ...withCertificate(alice), ...old }))).toBe('hello')
  await expect(visit(relay, url, '/', old)).rejects.toThrow()
})

describe('without a certificate of the site itself', () => {
  const keyless = useStarted(() => startTestRelay({ SITE_CERTIFICATES: 'off' }))

  it('the site is not published: the relay does not sign with a CertificateRequest', async () => {
    const publishing = publish({
      relay: keyless.origin,
      ca: keyless.ca,
      identity: new Uint8Array(32).fill(9),
      fetch: () => new Response('open'),
      tls: { clientCertificates },
    })
    await expect(publishing).rejects.toMatchObject({
      code: 'certificate_unavailable',
      message: expect.stringContaining('client certificates need a certificate of the site itself'),
    })
  })
})

describe('is refused', () => {
  it.each<[string, Partial<ExposeOptions>, RegExp]>([
    ['with a TCP port', { tcp: 1 }, /exclude tls, tcp, udp and cache/],
    ['with a UDP port', { udp: 1 }, /exclude tls, tcp, udp and cache/],
    ['with the TLS of a target', { http: undefined, tls: 1 }, /exclude tls, tcp, udp and cache/],
    [
      'with stored files',
      { http: undefined, fetch: () => new Response(), cache: { files: {} } },
      /exclude tls, tcp, udp and cache/,
    ],
    ['with visits of its own', { banMitm: true }, /banMitm and required client certificates/],
    ['with the certificate of the relay', { certificate: 'shared' }, /needs certificate: own/],
    [
      'with fields that visitors write',
      { allowFields: ['X-Client-Cert'] },
      /excludes fields about client certificates/,
    ],
    ['without authorities', { clientCertificates: {} as never }, /needs ca/],
    ['with a file name', { clientCertificates: { ca: 'ca.pem' } }, /ca: it has no PEM/],
    [
      'with a misspelt option',
      { clientCertificates: { ca: root.pem, require: true } as never },
      /has no option require/,
    ],
    ['with a list that is none', { clientCertificates: { ca: root.pem, crl: '' } }, /crl: it has no PEM/],
  ])('%s', async (_, options, message) => {
    const error: SvcError = await exposeAt(relay, { http, clientCertificates, ...options }).then(
      () => Promise.reject(new Error('it was published')),
      (reason) => reason,
    )
    expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringMatching(message) })
  })
})
