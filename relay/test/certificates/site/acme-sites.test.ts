// Certificates of sites from pebble, a real ACME server, by tls-alpn-01 at a real relay without a wildcard certificate.

import { createPublicKey, X509Certificate } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { RegisterResponse } from '@svc/protocol'
import { afterAll, beforeAll, describe, test as every, expect, vi } from 'vitest'
import { type AcmeRelay, hasAcmeRelay, startAcmeRelay } from '../../../../tools/relay/acme-relay.ts'
import { wholeOnly } from '../../../../tools/test-depth.ts'
import { certificateRequest } from '../../support/certificate-request.ts'
import { type Answer, newAccount, relayClient, type TestClient } from '../../support/relay.ts'

const test = wholeOnly(every, 'variant')

const ADMIN_TOKEN = 'a-long-random-value'
const WAIT = { timeout: 120_000, interval: 200 }
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
/** With it, sites have 24 certificates in a week, 12 of them at once, and each identity has 3. */
const CERTIFICATES_PER_WEEK = 30
const AT_ONCE = 12

describe.skipIf(!hasAcmeRelay())('a site at a relay without a wildcard certificate', () => {
  let relay: AcmeRelay
  let client: TestClient

  beforeAll(async () => {
    relay = await startAcmeRelay({
      challenge: 'tls-alpn-01',
      env: {
        ADMIN_TOKEN,
        ACME_CERTIFICATES_PER_WEEK: `${CERTIFICATES_PER_WEEK}`,
        SOURCE_BUDGET_PER_MINUTE: '60',
      },
    })
    client = relayClient(relay.port, relay.ca, relay.host)
  })
  afterAll(() => relay?.close())

  const ask = (lease: RegisterResponse, csr: Buffer): Promise<Answer> =>
    client.call(
      'POST',
      '/sdk/certificate',
      { csr: csr.toString('base64') },
      { 'X-Svc-Access-Token': lease.access_token },
    )
  const requestOf = (lease: RegisterResponse, keyFile: string): Buffer =>
    certificateRequest([lease.hostname, lease.canonical_hostname], { keyFile })
  const chainOf = ({ json }: Answer): string => (json.data as { chain?: string }).chain ?? ''
  const obtained = (lease: RegisterResponse, csr: Buffer): Promise<string> =>
    vi.waitFor(async () => {
      const answer = await ask(lease, csr)
      expect(answer).toMatchObject({ status: 200 })
      return chainOf(answer)
    }, WAIT)
  const keyFile = (name: string): string => join(relay.directory, `${name}.key`)
  const kept = (): Promise<string[]> => readdir(join(relay.directory, 'sites')).catch(() => [])
  const decide = (lease: RegisterResponse, more: object): Promise<Answer> => {
    const { name, address } = lease.identity
    const body = { identity_key: `${name}:${address}`, ...more }
    return client.call('POST', '/api/policy/leases', body, { Authorization: `Bearer ${ADMIN_TOKEN}` })
  }

  test('gets a certificate of its own and none of the relay, and asks for it as often as it needs', async () => {
    const domain = await client.call('GET', '/sdk/domain')
    expect((domain.json.data as { extensions: string[] }).extensions).toContain('site_certificate')
    const account = newAccount()
    const lease = await client.register('demo', { account })
    const shared = await client.call('GET', '/sdk/certificate-chain', undefined, {
      'X-Svc-Access-Token': lease.access_token,
    })
    expect(shared).toMatchObject({ status: 503, json: { error: { code: 'feature_unavailable' } } })
    const csr = requestOf(lease, keyFile('demo'))
    const first = await ask(lease, csr)
    expect(first).toMatchObject({ status: 202, json: { data: { retry_after: expect.any(Number) } } })
    const chain = await obtained(lease, csr)
    const [leaf, intermediate] = (chain.match(BLOCK) ?? []).map((block) => new X509Certificate(block))
    expect(leaf!.subjectAltName).toBe(`DNS:${lease.hostname}, DNS:${lease.canonical_hostname}`)
    expect(leaf!.publicKey.equals(createPublicKey(await readFile(keyFile('demo'))))).toBe(true)
    expect(leaf!.verify(intermediate!.publicKey)).toBe(true)
    expect(intermediate!.verify(new X509Certificate(relay.ca).publicKey)).toBe(true)
    // Far more than there may be orders.
    for (let i = 0; i < 100; i++) expect(chainOf(await ask(lease, csr))).toBe(chain)
    // A site that comes back with its key gets the same chain.
    const again = await client.register('demo', { account })
    const sameKey = certificateRequest([again.hostname, again.canonical_hostname], {
      key: ['-key', keyFile('demo')],
    })
    expect(chainOf(await ask(again, sameKey))).toBe(chain)
    const [file] = await kept()
    expect(await readFile(join(relay.directory, 'sites', file!), 'utf8')).toContain(chain)
    expect((await stat(join(relay.directory, 'sites', file!))).mode & 0o777).toBe(0o600)
  })

  test('that the policy rejects while it waits gets nothing', async () => {
    const lease = await client.register('rejected')
    const csr = requestOf(lease, keyFile('rejected'))
    const before = await kept()
    const [asked] = await Promise.all([ask(lease, csr), decide(lease, { is_denied: true })])
    expect([202, 403]).toContain(asked.status)
    expect(await ask(lease, csr)).toMatchObject({ status: 403, json: { error: { code: 'lease_rejected' } } })
    await decide(lease, { is_denied: false })
    expect(await kept()).toEqual(before)
  })

  test('gets its certificate from a relay that was killed while the order was under way', async () => {
    const account = newAccount()
    const lease = await client.register('killed', { account })
    const csr = requestOf(lease, keyFile('killed'))
    expect(await ask(lease, csr)).toMatchObject({ status: 202 })
    await relay.kill()
    await relay.start()
    const again = await client.register('killed', { account })
    expect(await obtained(again, csr)).toMatch(BLOCK)
  })

  test('of a crowd is told when to ask again, and the relay keeps its part of the budget', async () => {
    const crowd = await Promise.all(Array.from({ length: AT_ONCE + 2 }, (_, i) => client.register(`c${i}`)))
    const requests = crowd.map((lease) => requestOf(lease, '/dev/null'))
    for (const [i, lease] of crowd.entries()) await ask(lease, requests[i]!)
    const answers = await vi.waitFor(async () => {
      const all = await Promise.all(crowd.map((lease, i) => ask(lease, requests[i]!)))
      expect(all.map(({ status }) => status)).not.toContain(202)
      return all
    }, WAIT)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThanOrEqual(2)
    for (const { headers, json } of refused) {
      expect(Number(headers['retry-after'])).toBeGreaterThan(0)
      expect(json).toMatchObject({
        error: { code: 'rate_limited', message: expect.stringMatching(/no certificate/) },
      })
    }
    // The relay's log never has a key, and says in words what happens.
    const said = relay.log.map(({ msg }) => msg)
    expect(said).toContain('a site waits for a certificate of its own')
    expect(said).toContain('a site has a certificate of its own')
    expect(JSON.stringify(relay.log)).not.toMatch(/PRIVATE KEY|BEGIN CERTIFICATE/)
  })
})
