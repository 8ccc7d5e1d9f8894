// A site's own certificate: asked for, checked, renewed, and refused when the relay sends another one than it should.

import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { compressCertificates } from '@svc/tls'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createCa, createLeafFor } from '../../../relay/src/core/certificates/development-ca.ts'
import { parsePem } from '../../src/certificate/certificate-chain.ts'
import { CertificateKeeper } from '../../src/certificate/certificate-keeper.ts'
import { ChainCompression } from '../../src/certificate/chain-compression.ts'
import {
  CERTIFICATE_RETRY_FIRST_MS,
  CERTIFICATE_RETRY_MAX_MS,
  CERTIFICATE_WAIT_MAX_MS,
} from '../../src/certificate/limits.ts'
import type { KeylessCertificate, OwnCertificate } from '../../src/certificate/server-certificate.ts'
import { createWebCryptoKey } from '../../src/certificate/web-crypto-key.ts'
import type { LeaseKeeper } from '../../src/control/lease-keeper.ts'
import { RelayClient } from '../../src/control/relay-client.ts'
import type { SvcError } from '../../src/errors.ts'
import { RELAY } from '../support/fake-relay.ts'
import { type OneKeyStore, oneKeyStore } from '../support/site-key-store.ts'

const ROOT = 'relay.example'
const NAMES = [`demo.${ROOT}`, `demo-${'0a'.repeat(20)}.${ROOT}`]
const DAY_MS = 86_400_000
/** The relay's leaves are valid for 397 days, from an hour ago. */
const DUE_MS = (397 * DAY_MS * 2) / 3
const NOW = Date.UTC(2026, 5, 1)

let authority: ReturnType<typeof createCa>
let store: OneKeyStore
let lease: { accessToken: string; hostname: string; canonicalHostname: string } | undefined
let answers: (() => Response | Promise<Response>)[]
let requests: { path: string; token: string | null; csr: Buffer }[]
let used: OwnCertificate[]
let errors: SvcError[]
let keyless: KeylessCertificate | undefined
let waits: (number | undefined)[]
let keeper: CertificateKeeper

beforeEach(async () => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date', 'setTimeout', 'clearTimeout', 'performance'] })
  authority = createCa(ROOT)
  store = await oneKeyStore()
  lease = { accessToken: 'access.1', hostname: NAMES[0]!, canonicalHostname: NAMES[1]! }
  answers = []
  requests = []
  used = []
  errors = []
  waits = []
  keyless = keylessOf(authority)
  keeper = newKeeper()
})
afterEach(() => {
  keeper.stop()
  vi.useRealTimers()
})

function newKeeper(): CertificateKeeper {
  const client = new RelayClient(RELAY, async (url, init) => {
    const body = JSON.parse(String(init.body))
    const token = new Headers(init.headers).get('X-Svc-Access-Token')
    requests.push({ path: new URL(url).pathname, token, csr: Buffer.from(body.csr, 'base64') })
    return await (answers.shift() ?? (() => issued()))()
  })
  return new CertificateKeeper({
    client,
    keeper: {
      get lease() {
        return lease
      },
    } as unknown as LeaseKeeper,
    site: { relay: RELAY.host, name: 'demo', address: `0x${'0a'.repeat(20)}` },
    store,
    crypto: undefined,
    certificates: {
      get keyless() {
        return keyless
      },
      get fallback() {
        return keyless
      },
    },
    use: (certificate) => used.push(certificate),
    waits: (until) => waits.push(until),
    onError: (error) => errors.push(error),
  })
}

function keylessOf(ca: ReturnType<typeof createCa>): KeylessCertificate {
  const chain = parsePem(createLeafFor(ca, store.kept.key.publicKey, [ROOT, `*.${ROOT}`]))
  return {
    chain,
    compression: new ChainCompression(chain, compressCertificates),
    algorithm: 'ECDSA_SHA256',
    names: [],
  }
}

const leaf = (names: readonly string[] = NAMES, publicKey = store.kept.key.publicKey): string =>
  createLeafFor(authority, publicKey, names)
const answer = (data: object, status = 200): Response => Response.json({ ok: true, data }, { status })
const issued = (chain = leaf()): Response => answer({ chain })
const failed = (status: number, code: string, headers = {}): Response =>
  Response.json({ ok: false, error: { code, message: 'no' } }, { status, headers })

/** Lets what is under way come to its end. */
async function check(times = 1): Promise<void> {
  const before = requests.length
  keeper.check()
  await until(() => expect(requests.length).toBe(before + times))
  await settled()
}

const { setTimeout: realTimeout } = globalThis
const pause = (ms: number): Promise<void> => new Promise((resolve) => realTimeout(resolve, ms))

/** WebCrypto and compression work in threads of their own, outside of the fake timers. */
const settled = (): Promise<void> => pause(50)

/** Waits for what does not depend on timers, and leaves those of the test as they are. */
async function until(met: () => void): Promise<void> {
  for (;;)
    try {
      return met()
    } catch {
      await pause(2)
    }
}

describe('asks', () => {
  it('with the lease token and a request that openssl verifies, for the hostnames of the lease', async () => {
    await check()
    const [{ path, token, csr } = { path: '', token: '', csr: Buffer.alloc(0) }] = requests
    expect([path, token]).toEqual(['/sdk/certificate', 'access.1'])
    const said = execFileSync('openssl', ['req', '-inform', 'DER', '-verify', '-noout', '-text', '-pubkey'], {
      input: csr,
      stdio: ['pipe', 'pipe', 'ignore'],
      encoding: 'utf8',
    })
    expect(said).toContain(`${NAMES.map((name) => `DNS:${name}`).join(', ')}\n`)
    const [pem = ''] = /-----BEGIN PUBLIC KEY-----[^-]+/.exec(said) ?? []
    const key = Buffer.from(pem.replace(/-----.*-----|\s/g, ''), 'base64')
    expect(new Uint8Array(key)).toEqual(store.kept.key.publicKey)
  })

  it('and keeps it before it shows it, so that a page that is loaded again has it', async () => {
    const kept = Promise.withResolvers<void>()
    store.kept.save = () => kept.promise
    await check()
    expect(used).toEqual([])
    kept.resolve()
    await until(() => expect(used).toHaveLength(1))
  })

  it('and shows it also where it cannot be kept', async () => {
    store.kept.save = () => Promise.reject(new Error('no room'))
    await check()
    await until(() => expect(used).toHaveLength(1))
  })

  it('once, shows what comes, and keeps it', async () => {
    await check()
    await until(() => expect(used).toHaveLength(1))
    const [certificate] = used
    expect(certificate).toMatchObject({ algorithm: 'ECDSA_SHA256', names: NAMES })
    await until(() => expect([...certificate!.compression.forms.keys()].sort()).toEqual([1, 2]))
    await until(() => expect(store.kept.chain).toEqual(certificate!.chain))
    expect(store.expiresAt).toBe(certificate!.own.notAfter)
    keeper.check()
    await settled()
    expect(requests).toHaveLength(1)
    expect(errors).toEqual([])
  })

  it('not for a site whose kept certificate fits, which is shown at once', async () => {
    store.kept.chain = parsePem(leaf())
    keeper.check()
    await until(() => expect(used).toHaveLength(1))
    await settled()
    expect(requests).toEqual([])
  })

  it('when a third of the validity is left, and shows the old one meanwhile', async () => {
    store.kept.chain = parsePem(leaf())
    vi.setSystemTime(NOW + DUE_MS - DAY_MS)
    keeper.check()
    await until(() => expect(used).toHaveLength(1))
    await settled()
    expect(requests).toEqual([])
    vi.setSystemTime(NOW + DUE_MS)
    await check()
    await until(() => expect(used).toHaveLength(2))
    expect(used[1]!.own.notBefore).toBeGreaterThan(used[0]!.own.notBefore)
  })

  it('again for a lease with another hostname, with the same key', async () => {
    await check()
    await until(() => expect(used).toHaveLength(1))
    lease = { ...lease!, hostname: '' }
    answers.push(() => issued(leaf(NAMES.slice(1))))
    await check()
    await until(() => expect(used).toHaveLength(2))
    expect(used[1]!.names).toEqual(NAMES.slice(1))
    expect(used[1]!.own.key).toBe(used[0]!.own.key)
  })

  it.each<[string, () => void]>([
    ['expired', () => vi.setSystemTime(NOW + 400 * DAY_MS)],
    [
      'is of an authority that made its key anew',
      () => {
        keyless = keylessOf(createCa(ROOT))
      },
    ],
    [
      'is no certificate',
      () => {
        store.kept.chain = [Uint8Array.of(0x30, 0)]
      },
    ],
    [
      'has another key',
      () => {
        store.kept.chain = [...keylessOf(authority).chain]
      },
    ],
  ])('in place of showing a kept certificate that %s', async (_, happens) => {
    store.kept.chain = parsePem(leaf())
    happens()
    authority = createCa(ROOT)
    keyless = keylessOf(authority)
    await check()
    await until(() => expect(used).toHaveLength(1))
    expect(
      new X509Certificate(used[0]!.chain[0]!).verify(new X509Certificate(authority.certificate).publicKey),
    ).toBe(true)
  })

  it('where the relay has no certificate to compare with, too', async () => {
    keyless = undefined
    store.kept.chain = parsePem(leaf())
    keeper.check()
    await until(() => expect(used).toHaveLength(1))
    await settled()
    expect(requests).toEqual([])
  })

  it('nothing without a lease', async () => {
    lease = undefined
    keeper.check()
    await settled()
    expect(requests).toEqual([])
  })
})

describe('a relay that is still at it (202)', () => {
  it('is asked again when it says, and not before', async () => {
    answers.push(() => answer({ retry_after: 60 }, 202))
    await check()
    await vi.advanceTimersByTimeAsync(59_999)
    keeper.check()
    await settled()
    expect(requests).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    await until(() => expect(used).toHaveLength(1))
    expect(requests).toHaveLength(2)
    expect(requests[1]!.csr.length).toBeGreaterThan(0)
    expect(errors).toEqual([])
  })

  it('that asks for years is asked again after CERTIFICATE_WAIT_MAX_MS', async () => {
    answers.push(() => answer({ retry_after: 1e12 }, 202))
    await check()
    await vi.advanceTimersByTimeAsync(CERTIFICATE_WAIT_MAX_MS)
    await until(() => expect(used).toHaveLength(1))
  })
})

describe('is not shown, and the site says why:', () => {
  const other = async (): Promise<Uint8Array> => (await createWebCryptoKey()).publicKey
  it.each<[string, () => Response | Promise<Response>, RegExp]>([
    [
      'a chain with another key',
      async () => issued(leaf(NAMES, await other())),
      /has another key than that of the site/,
    ],
    [
      'a chain for another host',
      () => issued(leaf([`other.${ROOT}`])),
      /names other.relay.example, not demo/,
    ],
    [
      'a chain for one more host',
      () => issued(leaf([...NAMES, `other.${ROOT}`])),
      /names demo.*other.relay.example, not/,
    ],
    ['a chain without one of the hostnames', () => issued(leaf(NAMES.slice(1))), /names demo-0a/],
    ['a wildcard', () => issued(leaf([`*.${ROOT}`])), /names \*\.relay\.example/],
    [
      'a chain of the future',
      () => {
        vi.setSystemTime(NOW + 2 * DAY_MS)
        const late = leaf()
        vi.setSystemTime(NOW)
        return issued(late)
      },
      /is not valid now/,
    ],
    [
      'a chain of the past',
      () => {
        vi.setSystemTime(NOW - 400 * DAY_MS)
        const early = leaf()
        vi.setSystemTime(NOW)
        return issued(early)
      },
      /is not valid now/,
    ],
    [
      'what is no certificate',
      () => issued('-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n'),
      /answer for the site is not a certificate/,
    ],
    ['eleven certificates', () => issued(leaf().repeat(11)), /the chain has 11 certificates/],
    ['no chain', () => answer({}), /no valid chain/],
    [
      'no time to ask again',
      () => answer({ retry_after: -1 }, 202),
      /retry_after is not a number of seconds/,
    ],
    ['a relay that issues none', () => failed(503, 'feature_unavailable'), /no/],
    [
      'a relay that is not there',
      () => {
        throw new TypeError('fetch failed')
      },
      /no answer from/,
    ],
  ])('%s', async (_, respond, message) => {
    answers.push(respond)
    await check()
    await until(() => expect(errors).toHaveLength(1))
    expect(errors[0]).toMatchObject({
      code: 'certificate_unavailable',
      message: expect.stringMatching(message),
    })
    expect(used).toEqual([])
    expect(store.kept.chain).toBeUndefined()
  })

  it('a key that cannot be loaded', async () => {
    const cause = new Error('no storage')
    store.load = async () => {
      throw cause
    }
    keeper.check()
    await until(() => expect(errors).toHaveLength(1))
    expect(errors[0]).toMatchObject({ code: 'certificate_unavailable', cause })
    expect(requests).toEqual([])
  })
})

describe('after a failure', () => {
  it('asks again, ever more rarely, at least once an hour', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1)
    const pauses = Array.from({ length: 11 }, (_, i) =>
      Math.min(CERTIFICATE_RETRY_FIRST_MS * 2 ** i, CERTIFICATE_RETRY_MAX_MS),
    )
    expect(pauses.at(-1)).toBe(CERTIFICATE_RETRY_MAX_MS)
    answers.push(...pauses.map(() => () => failed(500, 'internal')))
    await check()
    for (const [i, ms] of pauses.entries()) {
      await until(() => expect(errors).toHaveLength(i + 1))
      await vi.advanceTimersByTimeAsync(ms - 1)
      expect(requests).toHaveLength(i + 1)
      await vi.advanceTimersByTimeAsync(1)
      await until(() => expect(requests).toHaveLength(i + 2))
    }
    vi.restoreAllMocks()
  })

  it('says when it asks again, and that the relay is at it', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1)
    answers.push(
      () => failed(500, 'internal'),
      () => answer({ retry_after: 60 }, 202),
    )
    await check()
    await until(() => expect(waits).toEqual([NOW + CERTIFICATE_RETRY_FIRST_MS]))
    await vi.advanceTimersByTimeAsync(CERTIFICATE_RETRY_FIRST_MS)
    await until(() => expect(waits).toEqual([NOW + CERTIFICATE_RETRY_FIRST_MS, undefined]))
    vi.restoreAllMocks()
  })

  it('of a site that the operator has not chosen, says so where no other certificate serves it', async () => {
    const rejected = (): Response => failed(403, 'lease_rejected')
    answers.push(rejected, rejected)
    await check()
    await until(() => expect(waits).toHaveLength(1))
    expect(errors).toEqual([])
    keyless = undefined
    await vi.advanceTimersByTimeAsync(CERTIFICATE_RETRY_FIRST_MS)
    await until(() => expect(errors).toHaveLength(1))
    expect(errors[0]).toMatchObject({ code: 'certificate_unavailable' })
  })

  it('asks again when a timer fires a moment early', async () => {
    answers.push(() => failed(500, 'internal'))
    const { now } = performance
    await check()
    await until(() => expect(errors).toHaveLength(1))
    vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) - 0.5)
    await vi.advanceTimersByTimeAsync(CERTIFICATE_RETRY_FIRST_MS)
    await until(() => expect(used).toHaveLength(1))
    vi.restoreAllMocks()
  })

  it('waits as long as the relay asks for (429)', async () => {
    answers.push(() => failed(429, 'rate_limited', { 'Retry-After': '120' }))
    await check()
    await until(() => expect(errors).toHaveLength(1))
    await vi.advanceTimersByTimeAsync(119_999)
    keeper.check()
    await settled()
    expect(requests).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    await until(() => expect(used).toHaveLength(1))
  })
})

it('a site that comes back does not wait for what was under way when it went', async () => {
  answers.push(() => new Promise(() => {}))
  keeper.check()
  await until(() => expect(requests).toHaveLength(1))
  keeper.stop()
  keeper.check()
  await until(() => expect(used).toHaveLength(1))
  expect(requests).toHaveLength(2)
})

it('a site that comes back during a pause asks at its end, and not before', async () => {
  answers.push(() => failed(429, 'rate_limited', { 'Retry-After': '120' }))
  await check()
  await until(() => expect(errors).toHaveLength(1))
  keeper.stop()
  await vi.advanceTimersByTimeAsync(60_000)
  keeper.check()
  await settled()
  await vi.advanceTimersByTimeAsync(59_999)
  await settled()
  expect(requests).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  await until(() => expect(used).toHaveLength(1))
  expect(requests).toHaveLength(2)
})

it('a site that is closed asks no more, and says nothing', async () => {
  const held = Promise.withResolvers<Response>()
  answers.push(() => held.promise)
  keeper.check()
  await until(() => expect(requests).toHaveLength(1))
  keeper.stop()
  held.resolve(issued())
  await settled()
  expect([used, errors]).toEqual([[], []])
  await vi.advanceTimersByTimeAsync(CERTIFICATE_RETRY_MAX_MS)
  expect(requests).toHaveLength(1)
})
