// ID tokens that are not what they have to be: nobody comes in with one, and the site's owner learns why.

import { createHmac, createPublicKey } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { AccessSite } from '../access-site.ts'
import { Browser } from './browser.ts'
import { type Forgery, ForgingIssuer } from './forging-issuer.ts'

const RSA = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }
const ALGORITHMS: [string, Parameters<typeof ForgingIssuer.start>[1]][] = [
  ['RS256', { name: 'RSASSA-PKCS1-v1_5', ...RSA }],
  ['PS256', { name: 'RSA-PSS', ...RSA }],
  ['ES256', { name: 'ECDSA', namedCurve: 'P-256' }],
  ['EdDSA', { name: 'Ed25519' }],
]

let issuer: ForgingIssuer
let site: AccessSite
const reports: unknown[] = []
beforeAll(async () => {
  issuer = await ForgingIssuer.start(...ALGORITHMS[0]!)
  site = await startSite(issuer)
})
afterEach(() => {
  issuer.forgery = {}
})
afterAll(() => {
  site.close()
  issuer.close()
})

function startSite({ url }: ForgingIssuer): Promise<AccessSite> {
  const access = { oidc: { issuer: url, clientId: 'site', allow: ['alice'] } }
  return AccessSite.start((_, { user }) => new Response(user?.subject), access)
}

/** @returns the page after the callback */
async function signIn(at: AccessSite, by: ForgingIssuer): Promise<{ status: number; text: string }> {
  // Each visitor has an address of its own: failures are few for each network.
  const browser = new Browser(at, `198.51.100.${by.asked.length + 1}`)
  const sent = new URL((await browser.ask('/')).headers.get('location')!).searchParams
  by.nonce = sent.get('nonce')!
  const query = new URLSearchParams({ code: 'a code', state: sent.get('state')! })
  return browser.open(`/.svc/access/oidc/callback?${query}`)
}

test.each(ALGORITHMS)('a good token, signed with %s, lets in', async (alg, algorithm) => {
  const good = await ForgingIssuer.start(alg, algorithm)
  const at = await startSite(good)
  expect(await signIn(at, good)).toMatchObject({ status: 200, text: 'alice' })
  // A public client proves by PKCE that it began the sign-in.
  expect(Object.fromEntries(good.asked[0]!)).toMatchObject({
    client_id: 'site',
    redirect_uri: `${at.origin}/.svc/access/oidc/callback`,
  })
  expect(good.asked[0]!.get('code_verifier')).toMatch(/^[\w-]{43}$/)
  at.close()
  good.close()
})

const now = (): number => Math.floor(Date.now() / 1000)

const FORGERIES: [string, () => Forgery][] = [
  ['no signature', () => ({ header: { alg: 'none' }, sign: async () => '' })],
  ['the public key as the secret of HS256', () => ({ header: { alg: 'HS256' }, sign: signWithPublicKey })],
  ['another key under the same name', () => ({ sign: signWithAnother })],
  ['a key that the issuer does not have', () => ({ header: { kid: 'other' }, sign: signWithAnother })],
  ['the algorithm of another key', () => ({ header: { alg: 'PS256' } })],
  ['another audience', () => ({ claims: { aud: 'other' } })],
  ['another party among the audiences', () => ({ claims: { aud: ['site', 'other'], azp: 'other' } })],
  ['another issuer', () => ({ claims: { iss: 'https://evil.example' } })],
  ['another nonce', () => ({ claims: { nonce: 'replayed' } })],
  ['no nonce', () => ({ claims: { nonce: undefined } })],
  ['a time that is over', () => ({ claims: { exp: now() - 60 } })],
  ['a time that has not begun', () => ({ claims: { nbf: now() + 60 } })],
  ['no end', () => ({ claims: { exp: undefined } })],
  ['no subject', () => ({ claims: { sub: undefined } })],
  ['the hash of another access token', () => ({ claims: { at_hash: 'AAAAAAAAAAAAAAAAAAAAAA' } })],
]

test.each(FORGERIES)('a token with %s lets nobody in', async (_, forge) => {
  issuer.forgery = forge()
  const before = site.errors.length
  const page = await signIn(site, issuer)
  expect([page.status, page.text]).toEqual([502, expect.stringContaining('no answer that it can trust')])
  expect(site.errors.slice(before)).toMatchObject([{ code: 'oidc_unavailable' }])
  reports.push(...site.errors.slice(before))
})

test('the site’s owner learns why, and no token is in what is told', () => {
  expect(reports).toHaveLength(FORGERIES.length)
  for (const report of reports) {
    expect(String(report)).toMatch(/a sign-in at the issuer failed: ./)
    expect(String(report)).not.toMatch(/eyJ/)
  }
})

test.each([
  ['a subject that can be no field', { sub: 'alice\r\nX-Svc-Email: root@example.org' }],
  ['a subject of 256 characters', { sub: 'a'.repeat(256) }],
])('%s lets nobody in', async (_, claims) => {
  issuer.forgery = { claims }
  expect((await signIn(site, issuer)).status).toBe(403)
})

test('a token that was good before it came is no longer, by the site’s clock', async () => {
  issuer.forgery = { claims: { iat: now(), exp: now() + 60 } }
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 })
  try {
    expect((await signIn(site, issuer)).status).toBe(502)
  } finally {
    vi.useRealTimers()
  }
})

test('an issuer that names itself differently, or does not answer, is an error at the start', async () => {
  const named = (url: string) =>
    AccessSite.start(() => new Response(), { oidc: { issuer: url, clientId: 'site', allow: ['alice'] } })
  const message = expect.stringContaining('gave no description of an issuer')
  for (const url of [
    issuer.url.replace('127.0.0.1', 'localhost'),
    `${issuer.url}/none`,
    'http://127.0.0.1:1',
  ])
    await expect(named(url)).rejects.toMatchObject({ code: 'oidc_unavailable', message })
})

async function signWithAnother(data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const name = 'RSASSA-PKCS1-v1_5'
  const { privateKey } = await crypto.subtle.generateKey({ name, ...RSA }, false, ['sign', 'verify'])
  return crypto.subtle.sign(name, privateKey, data)
}

async function signWithPublicKey(data: Uint8Array<ArrayBuffer>, jwk: JsonWebKey): Promise<ArrayBuffer> {
  const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
  const { buffer, byteOffset, length } = createHmac('sha256', pem).update(data).digest()
  return buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer
}
