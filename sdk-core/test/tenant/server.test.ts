// What visitors are served with: the relay's chain, kept up to date, and a deadline for their handshake.

import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from 'vitest'
import { buildClientHello, ext, records } from '../../../tls/test/support/client-hello-builder.ts'
import {
  CHAIN_MAX_AGE_MS,
  CHAIN_REFRESH_MIN_MS,
  ShownCertificate,
} from '../../src/certificate/shown-certificate.ts'
import type { LeaseKeeper } from '../../src/control/lease-keeper.ts'
import { RelayClient } from '../../src/control/relay-client.ts'
import { ConnectionLimiter, type LimitedConnection } from '../../src/tenant/connection-limiter.ts'
import { loadHttp2 } from '../../src/tenant/load-http2.ts'
import { PressureReporter } from '../../src/tenant/pressure-reporter.ts'
import { TenantServer, TLS_HANDSHAKE_DEADLINE_MS } from '../../src/tenant/server.ts'
import { TlsStream } from '../../src/tenant/tls-stream.ts'
import { serveConnection, type TlsConnection } from '../../src/tenant/visitor-connection.ts'
import { CERTIFICATE_PEM } from '../support/certificate.ts'
import { RELAY } from '../support/fake-relay.ts'
import { FedStream } from '../support/memory.ts'

const LEAF = Uint8Array.from(new X509Certificate(CERTIFICATE_PEM).raw)
/** What the relay says when it does not sign. */
const NO = Response.json({ error: 'no' }, { status: 500 })
const never = new AbortController().signal
let pem: string
let fetches: number
let onError: Mock<(error: unknown) => void>
let certificates: ShownCertificate
/** Both are within the relay's wildcard. */
const lease = {
  accessToken: 'access.1',
  hostname: 'demo.relay.localhost',
  canonicalHostname: `demo-${'0'.repeat(40)}.relay.localhost`,
  extensions: new Set(),
}
const keeper = { lease } as unknown as LeaseKeeper
const client = new RelayClient(RELAY, async () => {
  fetches++
  return new Response(pem)
})

beforeEach(async () => {
  vi.useFakeTimers({ now: 1e12 })
  pem = CERTIFICATE_PEM
  fetches = 0
  onError = vi.fn()
  certificates = new ShownCertificate(client, keeper, onError)
  await certificates.ensure(never)
})
afterEach(() => vi.useRealTimers())

const later = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

const keyShare = (): [number, Uint8Array] => ext.keyShare([0x001d, new Uint8Array(32).fill(9)])

/** A self-signed one; nobody looks at who signed it. */
function certificateFor(...names: string[]): string {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', '/dev/null']
  const extension = ['-addext', `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`]
  const command = ['req', '-x509', '-subj', '/CN=x', ...key, ...extension]
  return execFileSync('openssl', command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

function newConnection(): LimitedConnection {
  return new ConnectionLimiter(1, new PressureReporter(() => {}), () => {}).admit()
}

/** What EncryptedExtensions say of ALPN, as the relay sees them when it is to sign. */
async function agreedOn(options: { http2: boolean }, offered: string[]): Promise<string | undefined> {
  const signing = Promise.withResolvers<string>()
  const relay = new RelayClient(RELAY, async (_url, init) => {
    signing.resolve(JSON.parse(String(init?.body)).encrypted_extensions)
    return NO.clone()
  })
  const fetch = () => new Response()
  const server = new TenantServer({
    client: relay,
    keeper,
    certificates,
    fetch,
    tls: {},
    onError,
    ...options,
  })
  await loadHttp2()
  const hello = buildClientHello({
    extensions: [
      ext.serverName('localhost'),
      ext.supportedVersions(0x0304),
      ext.supportedGroups(0x001d),
      ext.signatureAlgorithms(0x0403),
      keyShare(),
      ext.alpn(...offered),
    ],
  })
  const over = server.serve(
    {
      stream: new FedStream().feed(records(22, hello)),
      binding: new Uint8Array(16),
      connection: newConnection(),
    },
    '',
  )
  const extensions = Buffer.from(await signing.promise, 'base64').toString('latin1')
  await over
  return /h2|http\/1\.1/.exec(extensions)?.[0]
}

describe('certificate', () => {
  it('is the chain with the algorithm of its leaf, loaded once', async () => {
    const names = ['relay.localhost', '*.relay.localhost']
    expect(certificates.current).toMatchObject({ chain: [LEAF], algorithm: 'ECDSA_SHA256', names })
    await expect.poll(() => [...certificates.current!.compression.forms.keys()].sort()).toEqual([1, 2])
    await certificates.ensure(never)
    expect(fetches).toBe(1)
  })

  it('is waited for again when the lease has a hostname that it does not cover', async () => {
    pem = certificateFor(lease.canonicalHostname)
    await later(CHAIN_REFRESH_MIN_MS)
    await certificates.ensure(never)
    await later(0)
    expect(fetches).toBe(2)
    expect(certificates.current!.names).toEqual([lease.canonicalHostname])
    pem = certificateFor(lease.hostname, lease.canonicalHostname)
    await certificates.ensure(never)
    expect(fetches).toBe(3)
    expect(certificates.current!.names).toEqual([lease.hostname, lease.canonicalHostname])
  })

  it('is fetched again after CHAIN_MAX_AGE_MS, not before', async () => {
    await later(CHAIN_MAX_AGE_MS - 1)
    certificates.refreshWhenOld()
    expect(fetches).toBe(1)
    pem = CERTIFICATE_PEM.repeat(2)
    await later(1)
    certificates.refreshWhenOld()
    await later(0)
    expect(certificates.current!.chain).toEqual([LEAF, LEAF])
  })

  it('is fetched at once after a refusal, however many visitors it is refused for', async () => {
    const { chain } = certificates.current!
    pem = CERTIFICATE_PEM.repeat(2)
    for (let visitor = 0; visitor < 100; visitor++) certificates.refreshAfterRefusal(chain)
    await later(0)
    expect(fetches).toBe(2)
    expect(certificates.current!.chain).toEqual([LEAF, LEAF])
    // the last of those who were shown the old one
    certificates.refreshAfterRefusal(chain)
    expect(fetches).toBe(2)
    // the relay has yet another one
    certificates.refreshAfterRefusal(certificates.current!.chain)
    expect(fetches).toBe(3)
  })

  it.each([
    ['it is still the same', () => CERTIFICATE_PEM],
    ['none comes', () => ''],
  ])('is not fetched for the next refusals, for CHAIN_REFRESH_MIN_MS, when %s', async (_, answer) => {
    const refused = async (): Promise<number> => {
      certificates.refreshAfterRefusal(certificates.current!.chain)
      await later(0)
      return fetches
    }
    pem = answer()
    expect(await refused()).toBe(2)
    await later(CHAIN_REFRESH_MIN_MS - 1)
    expect(await refused()).toBe(2)
    await later(1)
    expect(await refused()).toBe(3)
  })

  it('stays what it was when a fresh one cannot be had or used', async () => {
    const unusable = '-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n'
    for (const answer of ['', unusable]) {
      pem = answer
      await later(CHAIN_MAX_AGE_MS)
      certificates.refreshWhenOld()
      await later(0)
    }
    expect(certificates.current!.chain).toEqual([LEAF])
    expect(onError.mock.calls).toMatchObject([
      [{ code: 'unexpected_answer' }],
      [{ code: 'unexpected_answer' }],
    ])
  })
})

describe('a visitor', () => {
  it('that sends nothing is dropped after TLS_HANDSHAKE_DEADLINE_MS, and is no error of the site', async () => {
    const stream = new FedStream()
    const server = new TenantServer({
      client,
      keeper,
      certificates,
      fetch: () => new Response(),
      tls: {},
      onError,
    })
    const over = vi.fn()
    server
      .serve(
        { stream, binding: new Uint8Array(16), connection: newConnection() },
        'https://demo.relay.example',
      )
      .then(over)
    await later(TLS_HANDSHAKE_DEADLINE_MS - 1)
    expect(over).not.toHaveBeenCalled()
    await later(1)
    expect(over).toHaveBeenCalled()
    expect(stream.ended).toBe(true)
    expect(onError).not.toHaveBeenCalled()
  })

  it.each([
    ['relay.example', true],
    ['notlocal', true],
    ['local.example', true],
    ['relay.localhost:8443', false],
    ['svc-laptop.local', false],
    ['svc-laptop.local:8443', false],
  ])('below %s is told to use https alone: %s', async (host, isTold) => {
    vi.useRealTimers()
    const origin = `https://demo.${host}`
    const stream = new FedStream()
    stream.feed(new TextEncoder().encode(`GET / HTTP/1.1\r\nHost: demo.${host}\r\n\r\n`)).finish()
    const decrypted: TlsConnection = Object.assign(stream, {
      secure: Promise.resolve({ alpn: 'http/1.1' }),
      exportKeyingMaterial: () => new Uint8Array(32),
    })
    const own = { ...certificates.current!, own: {} }
    const { hostname } = new URL(origin)
    const server = new TenantServer({
      client,
      keeper: { lease: { ...lease, hostname, canonicalHostname: hostname } } as unknown as LeaseKeeper,
      certificates: { current: own } as unknown as ShownCertificate,
      fetch: () => new Response('hello'),
      tls: {},
      onError,
      endTls: () => decrypted,
    })
    await server.serve({ stream, binding: new Uint8Array(16), connection: newConnection() }, origin)
    const answer = Buffer.concat(stream.written).toString()
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer.toLowerCase().includes('strict-transport-security')).toBe(isTold)
  })

  it('whose flood has the relay sign 32 handshakes at a time, and no more', async () => {
    vi.useRealTimers()
    const answers: (() => void)[] = []
    const relay = new RelayClient(
      RELAY,
      () => new Promise((resolve) => answers.push(() => resolve(NO.clone()))),
    )
    const fetch = () => new Response()
    const server = new TenantServer({ client: relay, keeper, certificates, fetch, tls: {}, onError })
    const over = Array.from({ length: 40 }, () => {
      const stream = new FedStream().feed(records(22, buildClientHello()))
      return server.serve(
        { stream, binding: new Uint8Array(16), connection: newConnection() },
        'https://demo.relay.example',
      )
    })
    await vi.waitFor(() => expect(answers).toHaveLength(32))
    // Time enough for the others, if they could.
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(answers).toHaveLength(32)
    for (const answer of answers.splice(0)) answer()
    await vi.waitFor(() => expect(answers).toHaveLength(8))
    for (const answer of answers) answer()
    await Promise.all(over)
  })

  const both = ['h2', 'http/1.1']
  it.each([
    ['HTTP/2 when it offers both', { http2: true }, both, 'h2'],
    ['HTTP/1.1 when it knows nothing else', { http2: true }, ['http/1.1'], 'http/1.1'],
    ['HTTP/1.1 from a site that does not want the other', { http2: false }, both, 'http/1.1'],
  ])('gets %s', async (_, options, offered, expected) => {
    pem = certificateFor(lease.hostname, lease.canonicalHostname)
    await later(CHAIN_REFRESH_MIN_MS)
    await certificates.ensure(never)
    await later(0)
    vi.useRealTimers()
    expect(await agreedOn(options, offered)).toBe(expected)
  })

  it('gets HTTP/1.1 where the certificate names other hosts, too', async () => {
    vi.useRealTimers()
    expect(await agreedOn({ http2: true }, both)).toBe('http/1.1')
  })

  it('that sends garbage never reaches the handler', async () => {
    const fetch = vi.fn()
    const tenant = {
      certificateChain: [LEAF],
      algorithm: 'ECDSA_SHA256' as const,
      sign: vi.fn(),
      alpn: ['http/1.1'],
    }
    const http = { fetch, canonicalUrl: 'https://demo.relay.example', isOwnHost: () => true, onError }
    await serveConnection(
      new TlsStream(new FedStream().feed(new Uint8Array(70_000).fill(0x16)).finish(), tenant),
      http,
    )
    expect(fetch).not.toHaveBeenCalled()
    expect(tenant.sign).not.toHaveBeenCalled()
  })
})
