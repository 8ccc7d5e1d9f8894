// Custom domains with pebble, a real ACME server: the first certificate, renewal, and what an authority may say no with.

import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../../../tools/network/free-port.ts'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../../../tools/programs/pebble.ts'
import { AcmeClient, type AcmeFetch } from '../../src/acme/client.ts'
import type { SiteDomain } from '../../src/domains/options.ts'
import { type DomainSite, domainSite, fetchTrusting, listenFor, visit } from '../support/domain-site.ts'
import { memoryStore } from '../support/domain-store.ts'

const DOMAIN = 'shop.example.test'
const VALIDITY_S = 3600
const PROBLEM = { 'Content-Type': 'application/problem+json' }

describe.skipIf(!hasAcmeServer())('with pebble', () => {
  let acme: AcmeServer
  let listener: Awaited<ReturnType<typeof listenFor>>
  let trusting: AcmeFetch
  let site: DomainSite | undefined

  beforeAll(async () => {
    const tlsPort = await freePort()
    acme = await startAcmeServer({ tlsPort, hosts: [DOMAIN], validityS: VALIDITY_S, nonceRejectPercent: 20 })
    trusting = fetchTrusting(readFileSync(acme.caFile, 'utf8'))
    listener = await listenFor(() => site, tlsPort)
  })
  afterEach(() => site?.stop())
  afterAll(async () => {
    await listener.close()
    await acme.close()
  })

  const publish = (options: Partial<Parameters<typeof domainSite>[0]> = {}): DomainSite => {
    site = domainSite({ names: [DOMAIN], directory: acme.directoryUrl, fetch: trusting, ...options })
    return site
  }
  const serialAt = async (): Promise<string> =>
    (await visit(listener.port, DOMAIN, { ca: await acme.root() })).serial

  it('orders the first certificate once the domain is active, and keeps it', async () => {
    const store = memoryStore()
    const first = publish({ store })
    first.granted('pending')
    expect(first.domains.list(true)[0]).toMatchObject({ certificate: { state: 'missing' }, online: false })
    await expect(visit(listener.port, DOMAIN)).rejects.toThrow(/unrecognized name/)
    first.granted()
    const { certificate, online, dns } = await first.until(({ certificate }) => certificate.state === 'valid')
    expect([online, first.errors]).toEqual([true, []])
    expect(certificate.expiresAt! - Date.now()).toBeGreaterThan(VALIDITY_S * 900)
    expect(dns.records.at(-1)).toBeUndefined()
    const serial = await serialAt()
    // The next page has the same certificate, without an order.
    first.stop()
    const offline: AcmeFetch = () => Promise.reject(new Error('the authority is away'))
    const next = publish({ store, fetch: offline })
    next.granted()
    await next.until(({ certificate }) => certificate.state === 'valid')
    expect([await serialAt(), next.errors]).toEqual([serial, []])
  })

  it('renews when two thirds of the lifetime are over, also after weeks away', async () => {
    let now = Date.now()
    const options = { store: memoryStore(), now: () => now }
    const first = publish(options)
    first.granted()
    const { certificate } = await first.until(({ certificate }) => certificate.state === 'valid')
    const serial = await serialAt()
    now = certificate.expiresAt! - VALIDITY_S * 100
    first.granted()
    await vi.waitFor(async () => expect(await serialAt()).not.toBe(serial))
    first.stop()
    // The page was closed until long after the end: a visitor is told that there is no certificate, and then gets a new one.
    now += 21 * 86_400_000
    const next = publish(options)
    next.granted('pending')
    await expect(visit(listener.port, DOMAIN)).rejects.toThrow(/unrecognized name/)
    now = Date.now()
    next.granted()
    await next.until(({ certificate }) => certificate.state === 'valid')
    expect(await serialAt()).toBeTruthy()
  })

  it('orders one certificate for two pages, whichever of them the authority reaches', async () => {
    const ordered: string[] = []
    const counting: AcmeFetch = async (url, init) => {
      const answer = await trusting(url, init)
      if (answer.status === 201) ordered.push(new URL(url).pathname)
      return answer
    }
    const options = { store: memoryStore(), fetch: counting }
    const orders = publish(options)
    // Visitors, and the authority, come to this one.
    const other = publish(options)
    orders.granted()
    await vi.waitFor(() => expect(ordered).toContain('/sign-me-up'))
    other.granted()
    const valid = ({ certificate }: SiteDomain): boolean => certificate.state === 'valid'
    const [one, two] = [await orders.until(valid), await other.until(valid)]
    expect(two.certificate.expiresAt).toBe(one.certificate.expiresAt)
    expect(ordered).toEqual(['/sign-me-up', '/order-plz'])
    expect([await serialAt(), orders.errors, other.errors]).toEqual([expect.any(String), [], []])
    await expect(visit(listener.port, DOMAIN, { ALPNProtocols: ['acme-tls/1'] })).rejects.toThrow()
    orders.stop()
  })

  it('says that the account was deactivated, and orders no more for a while', async () => {
    const store = memoryStore()
    const first = publish({ store })
    first.granted()
    await first.until(({ certificate }) => certificate.state === 'valid')
    first.stop()
    const id = `acme-account@${new URL(acme.directoryUrl).host}`
    const { key, text } = store.entries.get(id)!
    const client = new AcmeClient(acme.directoryUrl, key, trusting)
    client.account = JSON.parse(text!).account
    await client.post(client.account!, { status: 'deactivated' }, new AbortController().signal)
    for (const other of [...store.entries.keys()]) if (other.startsWith(DOMAIN)) store.entries.delete(other)
    let requests = 0
    const counting: AcmeFetch = (...args) => {
      requests += 1
      return trusting(...args)
    }
    const next = publish({ store, fetch: counting })
    next.granted()
    const { certificate } = await next.until(({ certificate }) => certificate.state === 'failed')
    expect(certificate.error).toMatch(
      /account https:.* was deactivated or revoked .*: remove memory acme-account@/,
    )
    expect(certificate.retryAt! - Date.now()).toBeGreaterThan(50_000)
    const asked = requests
    next.granted()
    await new Promise((resolve) => setImmediate(resolve))
    expect([requests, next.errors.map(({ code }) => code)]).toEqual([asked, ['certificate_unavailable']])
  })

  it('waits as long as an authority that limits asks for, also after a reload', async () => {
    const limited: AcmeFetch = async (url, init) => {
      const answer = await trusting(url, init)
      if (!url.includes('order')) return answer
      const type = 'urn:ietf:params:acme:error:rateLimited'
      const headers = {
        ...PROBLEM,
        'Retry-After': '7200',
        'Replay-Nonce': answer.headers.get('Replay-Nonce') ?? '',
      }
      return new Response(JSON.stringify({ type, detail: 'too many' }), { status: 429, headers })
    }
    const store = memoryStore()
    const first = publish({ store, fetch: limited })
    first.granted()
    const { certificate } = await first.until(({ certificate }) => certificate.state === 'failed')
    expect(certificate.error).toBe(`the authority wants no more orders for ${DOMAIN} for now: too many`)
    expect(certificate.retryAt! - Date.now()).toBeGreaterThan(7_000_000)
    first.stop()
    const next = publish({ store })
    next.granted()
    await next.until(({ certificate }) => certificate.state === 'failed')
    expect(next.errors).toEqual([])
  })

  it('says that another server answers for the domain', async () => {
    const other = domainSite({ names: [DOMAIN], directory: acme.directoryUrl, fetch: trusting })
    const wrong = publish()
    // The listener serves another site, which has no proof to show.
    site = other
    wrong.granted()
    const { certificate } = await wrong.until(({ certificate }) => certificate.state === 'failed')
    expect(certificate.error).toMatch(
      /^the authority (did not reach this site as|got a wrong answer from) shop/,
    )
    wrong.stop()
  })

  it('counts what is limited before it is spent', async () => {
    let orders = 0
    const failing: AcmeFetch = async (url, init) => {
      const answer = await trusting(url, init)
      if (url.includes('order-plz') && answer.status === 201) orders += 1
      return answer
    }
    const store = memoryStore()
    let now = Date.now()
    const first = publish({ store, fetch: failing, now: () => now })
    first.granted()
    await first.until(({ certificate }) => certificate.state === 'valid')
    for (let count = 0; count < 6; count++) {
      first.stop()
      const key = [...store.entries.keys()].find((id) => id.startsWith(DOMAIN))!
      const entry = store.entries.get(key)!
      // A page that lost its chain orders again, until the week's share is spent.
      entry.text = JSON.stringify({ ...JSON.parse(entry.text!), chain: [] })
      now += 1000
      const next = publish({ store, fetch: failing, now: () => now })
      next.granted()
      const { certificate } = await next.until(
        ({ certificate: { state } }) => state === 'valid' || state === 'failed',
      )
      next.stop()
      if (certificate.state === 'failed') {
        expect(certificate.error).toMatch(/at most 4 certificates for this domain in 168 hours/)
        break
      }
    }
    expect(orders).toBe(4)
  })

  it('orders nothing where nothing can be stored', async () => {
    let posts = 0
    const counting: AcmeFetch = (url, init) => {
      if (url.includes('order-plz')) posts += 1
      return trusting(url, init)
    }
    const store = memoryStore()
    store.isFull = true
    const full = publish({ store, fetch: counting })
    full.granted()
    const { certificate } = await full.until(({ certificate }) => certificate.state === 'failed')
    expect([certificate.error, posts]).toEqual([
      `the certificate of ${DOMAIN} was not ordered: the disk is full`,
      0,
    ])
  })

  it('proves the domain only to connections that offer acme-tls/1 alone (RFC 8737 §3)', async () => {
    const seen: unknown[] = []
    const watching: AcmeFetch = async (url, init) => {
      if (url.includes('chalZ')) {
        const offering = (...protocols: string[]): Promise<unknown> =>
          visit(listener.port, DOMAIN, { ALPNProtocols: protocols, rejectUnauthorized: false })
        const { alpn, names } = Object(await offering('acme-tls/1'))
        seen.push(alpn, names, await offering('acme-tls/1', 'http/1.1').catch(({ code }) => code))
      }
      return trusting(url, init)
    }
    const proving = publish({ fetch: watching })
    proving.granted()
    await proving.until(({ certificate }) => certificate.state === 'valid')
    expect(seen.slice(0, 3)).toEqual(['acme-tls/1', `DNS:${DOMAIN}`, 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME'])
    await expect(visit(listener.port, DOMAIN, { ALPNProtocols: ['acme-tls/1'] })).rejects.toThrow()
  })
})
