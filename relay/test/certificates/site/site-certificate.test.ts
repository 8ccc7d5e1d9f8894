// `POST /sdk/certificate` of a real relay (docs/protocol.md §11), asked with requests that openssl made.

import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import type { RegisterResponse } from '@svc/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wholeOnly } from '../../../../tools/test-depth.ts'
import { useStarted } from '../../../../tools/use-started.ts'
import { createCa, createLeaf } from '../../../src/core/certificates/development-ca.ts'
import { createLog } from '../../../src/core/log/log.ts'
import { readSettings, startRelay } from '../../../src/index.ts'
import { certificateRequest, NEW_KEY } from '../../support/certificate-request.ts'
import {
  type Answer,
  freePort,
  newAccount,
  relayClient,
  startTestRelay,
  type TestClient,
} from '../../support/relay.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const PATH = '/sdk/certificate'
let directory: string
let lease: RegisterResponse

const relay = useStarted(() => startTestRelay({ ADMIN_TOKEN }))
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-site-certificate-'))
  lease = await relay.register('own')
})
afterAll(() => rm(directory, { recursive: true }))

function ask(
  csr: Uint8Array | string,
  token: string = lease.access_token,
  at: TestClient = relay,
): Promise<Answer> {
  const body = { csr: typeof csr === 'string' ? csr : Buffer.from(csr).toString('base64') }
  return at.call('POST', PATH, body, { 'X-Svc-Access-Token': token })
}

const chainOf = ({ json }: Answer): string => (json.data as { chain: string }).chain
const failure = (status: number, code: string) => ({ status, json: { ok: false, error: { code } } })
const extensionsOf = async ({ call }: TestClient): Promise<string[]> =>
  ((await call('GET', '/sdk/domain')).json.data as { extensions: string[] }).extensions

describe('a certificate', () => {
  test('names what was asked for, has the key of the site, and comes from the CA', async () => {
    const names = [lease.hostname, lease.canonical_hostname]
    const [leaf, ...more] = chainOf(await ask(certificateRequest(names))).match(
      /-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g,
    )!
    expect(more).toEqual([])
    const certificate = new X509Certificate(leaf!)
    expect(certificate.subjectAltName).toBe(names.map((name) => `DNS:${name}`).join(', '))
    expect(certificate.verify(new X509Certificate(relay.ca).publicKey)).toBe(true)
    const shared = new X509Certificate(await readFile(join(relay.directory, 'fullchain.pem')))
    expect(certificate.publicKey.equals(shared.publicKey)).toBe(false)
  })

  test.each(Object.entries(NEW_KEY))('of %s serves a client that verifies it', async (_, newKey) => {
    const keyFile = join(directory, 'key.pem')
    const csr = certificateRequest([lease.hostname], { key: newKey, keyFile })
    const key = await readFile(keyFile)
    const cert = chainOf(await ask(csr))
    expect(new X509Certificate(cert).publicKey.equals(createPublicKey(createPrivateKey(key)))).toBe(true)
    const server = createServer({ cert, key }, (socket) => socket.end()).listen(0, '127.0.0.1')
    const { port } = await new Promise<{ port: number }>((resolve) =>
      server.once('listening', () => resolve(server.address() as { port: number })),
    )
    const client = connect({ port, host: '127.0.0.1', servername: lease.hostname, ca: relay.ca })
    await new Promise((resolve, reject) => client.once('secureConnect', resolve).once('error', reject))
    expect(client.authorized).toBe(true)
    client.destroy()
    server.close()
  })
})

describe('is refused', () => {
  test.each([
    ['without a token', () => ask(certificateRequest([lease.hostname]), ''), 403, 'unauthorized'],
    ['with a forged one', () => ask(certificateRequest([lease.hostname]), 'a.b.c'), 403, 'unauthorized'],
    [
      'with a reverse capability',
      () => ask(certificateRequest([lease.hostname]), lease.reverse_endpoint.capability),
      403,
      'unauthorized',
    ],
    ['that is no base64', () => ask('hello!'), 400, 'invalid_request'],
    ['that is garbage', () => ask(Buffer.alloc(100, 7)), 400, 'invalid_request'],
    [
      'without a request',
      () => relay.call('POST', PATH, {}, { 'X-Svc-Access-Token': lease.access_token }),
      400,
      'invalid_request',
    ],
    ['over 8 KiB', () => ask(Buffer.alloc(8 * 1024 + 1)), 400, 'invalid_request'],
    ['with a body over 16 KiB', () => ask(Buffer.alloc(16 * 1024)), 400, 'invalid_request'],
    ['for the root host', () => ask(certificateRequest(['relay.localhost'])), 400, 'invalid_request'],
    ['for a wildcard', () => ask(certificateRequest(['*.relay.localhost'])), 400, 'invalid_request'],
    ['by GET', () => relay.call('GET', PATH), 405, 'method_not_allowed'],
  ])('%s', async (_, answer, status, code) => {
    expect(await answer()).toMatchObject(failure(status, code))
  })

  test("for another lease's hostname, also with the token of that one's predecessor (protocol §11.1.2)", async () => {
    const account = newAccount()
    const first = await relay.register('other', { account })
    expect(await ask(certificateRequest([first.hostname]))).toMatchObject(failure(400, 'invalid_request'))
    const second = await relay.register('other', { account })
    const csr = certificateRequest([second.hostname])
    expect(await ask(csr, first.access_token)).toMatchObject(failure(404, 'lease_not_found'))
    expect(await ask(csr, second.access_token)).toMatchObject({ status: 200 })
  })

  test('for a lease that the policy does not route', async () => {
    const { access_token, hostname, identity } = await relay.register('banned')
    const csr = certificateRequest([hostname])
    const body = { identity_key: `${identity.name}:${identity.address}`, is_denied: true }
    await relay.call('POST', '/api/policy/leases', body, { Authorization: `Bearer ${ADMIN_TOKEN}` })
    expect(await ask(csr, access_token)).toMatchObject(failure(403, 'lease_rejected'))
  })
})

describe('SITE_CERTIFICATES', () => {
  test('off: the relay issues none, and lists nothing', async () => {
    const off = await startTestRelay({ SITE_CERTIFICATES: 'off' })
    expect(await extensionsOf(off)).not.toContain('site_certificate')
    const { access_token, hostname } = await off.register('off')
    const answer = await ask(certificateRequest([hostname]), access_token, off)
    expect(answer).toMatchObject(failure(503, 'feature_unavailable'))
    await off.close()
  })

  test('approved: a site gets one when an administrator has approved it by name, which the mode auto does not', async () => {
    const strict = await startTestRelay({ SITE_CERTIFICATES: 'approved', ADMIN_TOKEN })
    const { access_token, hostname, identity } = await strict.register('approved')
    const csr = certificateRequest([hostname])
    expect(await ask(csr, access_token, strict)).toMatchObject(failure(403, 'lease_rejected'))
    const body = { identity_key: `${identity.name}:${identity.address}`, is_approved: true }
    await strict.call('POST', '/api/policy/leases', body, { Authorization: `Bearer ${ADMIN_TOKEN}` })
    expect(await ask(csr, access_token, strict)).toMatchObject({ status: 200 })
    await strict.close()
  })

  test('with another value ends the start, and the error names those that there are', () => {
    const start = (): unknown => readSettings({ SVC_URL: 'https://relay.example', SITE_CERTIFICATES: 'some' })
    expect(start).toThrow(/SITE_CERTIFICATES: one of off, approved, all is needed/)
  })
})

wholeOnly(describe, 'depth')('a flood', () => {
  test('of one identity is refused after its burst, also from a new lease of it, and others are served (protocol §11.1.3)', async () => {
    const usual = await startTestRelay({ SOURCE_BUDGET_PER_MINUTE: '60', RELAY_BUDGET_PER_MINUTE: '1000000' })
    const account = newAccount()
    const { access_token, hostname } = await usual.register('flood', { account })
    const csr = certificateRequest([hostname])
    // 6 times the default rate of registrations gives 6 times the burst of 10.
    for (let i = 0; i < 60; i++) expect(await ask(csr, access_token, usual)).toMatchObject({ status: 200 })
    const refused = await ask(csr, access_token, usual)
    expect(refused).toMatchObject(failure(429, 'rate_limited'))
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    const again = await usual.register('flood', { account })
    expect(await ask(csr, again.access_token, usual)).toMatchObject(failure(429, 'rate_limited'))
    const other = await usual.register('other')
    expect(await ask(certificateRequest([other.hostname]), other.access_token, usual)).toMatchObject({
      status: 200,
    })
    await usual.close()
  })

  test('of invalid ones counts, and the network of many identities is refused after its burst', async () => {
    const usual = await startTestRelay({ SOURCE_BUDGET_PER_MINUTE: '60', RELAY_BUDGET_PER_MINUTE: '1000000' })
    const tokens = [await usual.register('a'), await usual.register('b'), await usual.register('c')].map(
      ({ access_token }) => access_token,
    )
    const garbage = Buffer.alloc(8)
    const statuses: number[] = []
    for (let i = 0; i < 140; i++) statuses.push((await ask(garbage, tokens[i % 3], usual)).status)
    expect(statuses.slice(0, 120)).toEqual(Array(120).fill(400))
    expect(statuses).toContain(429)
    await usual.close()
  })
})

test('a relay of ours on localhost lists the extension, also with workers', async () => {
  expect(await extensionsOf(relay)).toContain('site_certificate')
  const workers = await startTestRelay({ SVC_WORKERS: '2' })
  expect(await extensionsOf(workers)).toContain('site_certificate')
  const { access_token, hostname } = await workers.register('own')
  for (let i = 0; i < 4; i++)
    expect(await ask(certificateRequest([hostname]), access_token, workers)).toMatchObject({ status: 200 })
  await workers.close()
})

test('a relay with the certificate of its operator issues none, and lists nothing', async () => {
  const host = 'relay.example.com'
  const state = await mkdtemp(join(directory, 'operator-'))
  const authority = createCa(host)
  const { chain, key } = createLeaf(authority, host)
  await writeFile(join(state, 'fullchain.pem'), chain)
  await writeFile(join(state, 'privatekey.pem'), key, { mode: 0o600 })
  const port = await freePort()
  const settings = readSettings({ SVC_URL: `https://${host}:${port}`, IDENTITY_PATH: state })
  const operated = await startRelay(settings, createLog('silent'))
  const client = relayClient(port, authority.certificate, host)
  expect(await extensionsOf(client)).not.toContain('site_certificate')
  const { access_token, hostname } = await client.register('own')
  expect(await ask(certificateRequest([hostname]), access_token, client)).toMatchObject(
    failure(503, 'feature_unavailable'),
  )
  await operated.close()
})
