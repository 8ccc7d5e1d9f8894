// A site at a relay whose certificate all sites share: visitors get that one at first, and the site's own once it is there.

import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { duplexPair } from 'node:stream'
import { type ConnectionOptions, type TLSSocket, connect as tlsConnect } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createCa, createLeafFor } from '../../../relay/src/core/certificates/development-ca.ts'
import { parseCertificateRequest } from '../../../relay/src/features/site-certificates/certificate-request.ts'
import { TestAuthority } from '../../../tools/tls/test-authority.ts'
import type { SiteKeyStore } from '../../src/certificate/site-key.ts'
import type { Platform } from '../../src/platform.ts'
import { publishOn } from '../../src/publish.ts'
import type { PublishOptions } from '../../src/site/options.ts'
import type { Site, SiteErrorEvent } from '../../src/site/site.ts'
import { CERTIFICATE_PEM } from '../support/certificate.ts'
import { type Answer, failing, RelayDouble, testPlatform } from '../support/relay-double.ts'
import { oneKeyStore } from '../support/site-key-store.ts'

const ROOT = 'relay.localhost'
const HOST = `demo.${ROOT}`
const authority = createCa(ROOT)
let relay: RelayDouble
let sites: { close(): Promise<void> }[]

beforeEach(async () => {
  relay = await RelayDouble.start()
  relay.overrides['/sdk/domain'] = listing('site_certificate', 'sha384', 'hello_retry_request')
  sites = []
})
afterEach(async () => {
  await Promise.all(sites.map((site) => site.close()))
  await relay.crash()
})

function listing(...extensions: string[]): () => Answer {
  return () => [200, { ok: true, data: { protocol_version: '10', extensions } }]
}

/** Answers as a relay does that has a CA. */
function issue({ csr }: Record<string, unknown>): Answer {
  const der = Buffer.from(String(csr), 'base64')
  const { publicKey, names } = parseCertificateRequest(der, hostnames())
  return [200, { ok: true, data: { chain: createLeafFor(authority, publicKey, names) } }]
}

let last: Site | undefined
/** The hostnames of the site that was published last. It may ask for a certificate before it is online. */
const hostnames = (): string[] => [HOST, new URL(last!.canonicalUrl).hostname]

const WAIT = { timeout: 60_000 }

/** @param siteKeys null for a platform that keeps no keys */
async function publishDemo(
  options: Partial<PublishOptions> = {},
  siteKeys: SiteKeyStore | null | undefined = undefined,
  more: Partial<Platform> = {},
) {
  const events: string[] = []
  const errors: string[] = []
  const site = await publishOn(
    {
      ...testPlatform(),
      ...(siteKeys !== null && { siteKeys: siteKeys ?? (await oneKeyStore()) }),
      ...more,
    },
    {
      relay: relay.url,
      name: 'demo',
      fetch: () => new Response('hello'),
      debug: ({ type }) => events.push(type),
      onSite: (made) => {
        last = made
        made.addEventListener('error', ({ error }: SiteErrorEvent) => errors.push(error.code))
      },
      ...options,
    },
  )
  sites.push(site)
  return { site, errors, hasOwn: () => events.includes('certificate') }
}

/** What a browser does, which trusts both the relay's certificate and the CA. */
async function visit(
  session?: Buffer,
  more: ConnectionOptions = {},
): Promise<{ socket: TLSSocket; key: string; session: Promise<Buffer> }> {
  const [visitor, bridged] = duplexPair()
  void relay.bridge(bridged)
  const trust = { ca: [CERTIFICATE_PEM, authority.certificate], ALPNProtocols: ['h2', 'http/1.1'] }
  const socket = tlsConnect({
    socket: visitor,
    servername: HOST,
    ...trust,
    ...(session && { session }),
    ...more,
  })
  const next = once(socket, 'session').then(([ticket]) => ticket as Buffer)
  next.catch(() => {}) // A connection without a ticket has an error instead, or none.
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
  const key = createHash('sha256')
    .update(socket.getPeerX509Certificate()?.publicKey.export({ type: 'spki', format: 'der' }) ?? '')
    .digest('hex')
  return { socket, key, session: next }
}

it('gives visitors HTTP/1.1 with the shared certificate, then HTTP/2 with its own and no signature of the relay', async () => {
  const ready = Promise.withResolvers<void>()
  let isReady = false
  ready.promise.then(() => {
    isReady = true
  })
  relay.overrides['/sdk/certificate'] = (body) =>
    isReady ? issue(body) : [202, { ok: true, data: { retry_after: 0.05 } }]
  const { site, hasOwn, errors } = await publishDemo()
  expect(site.state).toBe('online')
  const before = await visit()
  expect(before.socket.alpnProtocol).toBe('http/1.1')
  expect(relay.count('/v1/sign')).toBe(1)
  const ticket = await before.session
  ready.resolve()
  await vi.waitFor(() => expect(hasOwn()).toBe(true))
  const after = await visit()
  expect(after.socket.alpnProtocol).toBe('h2')
  expect(after.key).not.toBe(before.key)
  expect(relay.count('/v1/sign')).toBe(1)
  // A session that began with the shared certificate ends with it: a browser would trust HTTP/2 for all hosts of that.
  const returning = await visit(ticket)
  expect(returning.socket.isSessionReused()).toBe(false)
  expect(returning.key).toBe(after.key)
  expect(errors).toEqual([])
})

it.each<[string, () => void, Partial<PublishOptions>]>([
  [
    'the relay does not list the extension',
    () => {
      relay.overrides['/sdk/domain'] = listing('sha384')
    },
    {},
  ],
  ['the options say so', () => {}, { certificate: 'shared' }],
])('asks for none where %s (protocol §11.1.5)', async (_, prepare, options) => {
  prepare()
  relay.overrides['/sdk/certificate'] = issue
  const { socket } = await publishDemo(options).then(() => visit())
  expect(socket.alpnProtocol).toBe('http/1.1')
  expect(relay.count('/sdk/certificate')).toBe(0)
})

it.each<[string, (body: Record<string, unknown>) => Answer]>([
  ['refuses', failing(503, 'feature_unavailable')],
  ['sends a certificate with a key of its own', () => [200, { ok: true, data: { chain: CERTIFICATE_PEM } }]],
  ['sends nonsense', () => [200, { ok: true, data: { chain: randomUUID() } }]],
])('goes on with the shared certificate where the relay %s, and says so', async (_, respond) => {
  relay.overrides['/sdk/certificate'] = respond
  const { errors, hasOwn } = await publishDemo()
  await vi.waitFor(() => expect(errors).toEqual(['certificate_unavailable']))
  const { socket } = await visit()
  expect(socket.alpnProtocol).toBe('http/1.1')
  expect(relay.count('/v1/sign')).toBe(1)
  expect(hasOwn()).toBe(false)
})

it('is online before the relay has answered', async () => {
  const answered = Promise.withResolvers<void>()
  relay.overrides['/sdk/certificate'] = () => {
    answered.resolve()
    return failing(503, 'feature_unavailable')()
  }
  const { site } = await publishDemo()
  expect(site.state).toBe('online')
  await answered.promise
})

describe('where the relay has no certificate that its sites share', () => {
  beforeEach(() => {
    relay.overrides['/sdk/certificate-chain'] = failing(503, 'feature_unavailable')
  })

  it('is not online before its own certificate is there, and says what it waits for', async () => {
    let isReady = false
    relay.overrides['/sdk/certificate'] = (body) =>
      isReady ? issue(body) : [202, { ok: true, data: { retry_after: 0.05 } }]
    const states: unknown[] = []
    const published = publishDemo({
      onSite: (site) => {
        last = site
        site.addEventListener('statechange', () => states.push([site.state, site.waiting]))
      },
    })
    await vi.waitFor(() => expect(states).toHaveLength(1), WAIT)
    expect(states[0]).toEqual(['waiting', { reason: 'certificate', until: undefined }])
    await vi.waitFor(() => expect(relay.count('/sdk/certificate')).toBeGreaterThan(1), WAIT)
    // A visitor who comes now waits with the site.
    const early = visit()
    isReady = true
    const { site } = await published
    const { socket } = await early
    expect(socket.alpnProtocol).toBe('h2')
    socket.destroy()
    expect(states.at(-1)).toEqual(['online', undefined])
    expect(site.state).toBe('online')
    expect(relay.count('/v1/sign')).toBe(0)
  })

  it('is online at once with the certificate that it kept', async () => {
    relay.overrides['/sdk/certificate'] = issue
    const siteKeys = await oneKeyStore()
    const first = await publishDemo({}, siteKeys)
    await first.site.close()
    const asked = relay.count('/sdk/certificate')
    relay.overrides['/sdk/certificate'] = failing(500, 'internal')
    const { site } = await publishDemo({}, siteKeys)
    expect(site.state).toBe('online')
    expect(relay.count('/sdk/certificate')).toBe(asked)
  })

  it('waits on through failures, and says why and until when', async () => {
    relay.overrides['/sdk/certificate'] = failing(503, 'feature_unavailable')
    const closing = new AbortController()
    const waiting: unknown[] = []
    const errors: string[] = []
    const published = publishDemo({
      signal: closing.signal,
      onSite: (site) => {
        site.addEventListener('statechange', () => waiting.push(site.waiting))
        site.addEventListener('error', ({ error }) => errors.push(error.code))
      },
    })
    const failed = { reason: 'certificate', until: expect.any(Number) }
    await vi.waitFor(() => expect(waiting).toContainEqual(failed), WAIT)
    expect(errors).toEqual(['certificate_unavailable'])
    closing.abort()
    await expect(published).rejects.toMatchObject({ code: 'aborted' })
  })

  it('rejects a site that asks for it with what to do', async () => {
    await expect(publishDemo({ certificate: 'shared' })).rejects.toMatchObject({
      code: 'certificate_unavailable',
      message: expect.stringMatching(/no certificate that its sites share.*certificate: own/),
    })
    expect(relay.count('/sdk/certificate')).toBe(0)
  })

  it('rejects every site where the relay issues none either', async () => {
    relay.overrides['/sdk/domain'] = listing()
    await expect(publishDemo()).rejects.toMatchObject({
      code: 'certificate_unavailable',
      message: expect.stringMatching(/the relay issues none for sites/),
    })
  })

  it('rejects one that has no place for a key', async () => {
    await expect(publishDemo({}, null)).rejects.toMatchObject({ code: 'certificate_unavailable' })
  })

  it('takes one that serves dedicated ports alone without a certificate', async () => {
    relay.overrides['/sdk/certificate'] = failing(500, 'internal')
    const { site } = await publishDemo({}, await oneKeyStore(), { needsCertificate: false })
    expect(site.state).toBe('online')
  })
})

describe('a site that asks for client certificates', () => {
  const clients = TestAuthority.root()
  const alice = clients.client()
  const withCertificate = { cert: alice.pem, key: alice.keyPem, ALPNProtocols: ['http/1.1'] }
  const options = (onSite: (site: Site) => void = () => {}): Partial<PublishOptions> => ({
    tls: { clientCertificates: { ca: clients.pem } },
    fetch: (_, { clientCertificate }) => new Response(clientCertificate?.subject),
    onSite: (site) => {
      last = site
      onSite(site)
    },
  })

  /** What a visitor gets before the connection ends. */
  async function answerOf(socket: TLSSocket): Promise<string> {
    socket.write(`GET / HTTP/1.1\r\nHost: ${new URL(last!.url).host}\r\nConnection: close\r\n\r\n`)
    return Buffer.concat(await socket.toArray()).toString()
  }

  it('waits for a certificate of its own, and never shows the one that the relay signs for (protocol §10.2.5)', async () => {
    let isReady = false
    relay.overrides['/sdk/certificate'] = (body) =>
      isReady ? issue(body) : [202, { ok: true, data: { retry_after: 0.05 } }]
    const states: unknown[] = []
    const published = publishDemo(
      options((site) => site.addEventListener('statechange', () => states.push([site.state, site.waiting]))),
    )
    await vi.waitFor(() => expect(relay.count('/sdk/certificate')).toBeGreaterThan(1), WAIT)
    expect(states).toEqual([['waiting', { reason: 'certificate', until: undefined }]])
    const early = visit(undefined, withCertificate)
    isReady = true
    await published
    expect(await answerOf((await early).socket)).toMatch(/CN=Alice$/)
    expect(relay.count('/v1/sign')).toBe(0)
  })

  it.each<[string, ConnectionOptions, string]>([
    ['none', {}, 'certificate required'],
    ['one of another CA', certificateOf(TestAuthority.root({ name: 'Other' }).client()), 'unknown ca'],
  ])('refuses a visitor with %s, before the handler', async (_, more, alert) => {
    relay.overrides['/sdk/certificate'] = issue
    await publishDemo(options())
    const { socket } = await visit(undefined, more)
    await expect(answerOf(socket)).rejects.toThrow(alert)
  })

  it('resumes no session', async () => {
    relay.overrides['/sdk/certificate'] = issue
    await publishDemo(options())
    const { socket, session } = await visit(undefined, withCertificate)
    let hasTicket = false
    session.then(
      () => {
        hasTicket = true
      },
      () => {},
    )
    expect(await answerOf(socket)).toMatch(/CN=Alice$/)
    expect(hasTicket).toBe(false)
  })

  it('is not published where the relay issues no certificates', async () => {
    relay.overrides['/sdk/domain'] = listing()
    await expect(publishDemo(options())).rejects.toMatchObject({
      code: 'certificate_unavailable',
      message:
        'client certificates need a certificate of the site itself, and the relay issues none for sites',
    })
  })

  it('says so where the operator gives it none, although the relay has one that sites share', async () => {
    relay.overrides['/sdk/certificate'] = failing(403, 'lease_rejected')
    const closing = new AbortController()
    const errors: string[] = []
    const published = publishDemo({
      ...options((site) => site.addEventListener('error', ({ error }) => errors.push(error.code))),
      signal: closing.signal,
    })
    await vi.waitFor(() => expect(errors).toEqual(['certificate_unavailable']), WAIT)
    closing.abort()
    await expect(published).rejects.toMatchObject({ code: 'aborted' })
  })
})

function certificateOf({ pem, keyPem }: TestAuthority): ConnectionOptions {
  return { cert: pem, key: keyPem }
}
