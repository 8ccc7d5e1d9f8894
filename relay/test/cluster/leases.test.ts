// Three machines that are one relay: a lease is the same at each of them, whichever registered it.

import { hash, X509Certificate } from 'node:crypto'
import {
  canonicalLabel,
  type RegisterChallengeResponse,
  type RegisterResponse,
  siteQuestionText,
} from '@svc/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { openCarrier } from '../support/carrier.ts'
import {
  type ClusterRelay,
  type ClusterRelays,
  startClusterRelays,
  whyNoRedis,
} from '../support/cluster-relays.ts'
import { type Answer, newAccount, register, type TestClient } from '../support/relay.ts'
import { nativeSession } from '../support/session.ts'
import { activate, genuine, sign } from '../support/sign.ts'
import { makeStatement } from '../support/site-statement.ts'

let cluster: ClusterRelays
let a: ClusterRelay
let b: ClusterRelay
let c: ClusterRelay

const renew = (relay: TestClient, { access_token }: { access_token: string }, fields = {}): Promise<Answer> =>
  relay.call('POST', '/sdk/renew', { access_token, ...fields })
const reverse = (relay: TestClient, { access_token }: { access_token: string }): Promise<Answer> =>
  relay.call('POST', '/sdk/reverse', { access_token })
const unregister = (relay: TestClient, { access_token }: { access_token: string }): Promise<Answer> =>
  relay.call('POST', '/sdk/unregister', { access_token })
const errorOf = ({ status, json }: Answer): unknown[] => [status, json.error]
const NOT_FOUND = [404, { code: 'lease_not_found', message: expect.any(String) }]

/** Calls to register, of which the second one goes to another machine than the first. */
const registerBetween = (first: TestClient, second: TestClient, name: string, fields = {}) =>
  register(
    {
      call: (method, path, ...rest) =>
        (path.endsWith('challenge') ? first : second).call(method, path, ...rest),
    },
    name,
    fields,
  )

describe.skipIf(whyNoRedis() !== undefined)(`three machines (skipped: ${whyNoRedis()})`, () => {
  beforeAll(async () => {
    cluster = await startClusterRelays(3)
    ;[a, b, c] = cluster.relays as [ClusterRelay, ClusterRelay, ClusterRelay]
  })
  afterAll(() => cluster?.close())

  test('have one identity, one certificate and one authority', async () => {
    const chains = await Promise.all(
      cluster.relays.map(async (relay) => (await relay.call('GET', '/sdk/certificate-chain')).text),
    )
    expect(new Set(chains).size).toBe(1)
    expect(new Set(cluster.relays.map(({ ca }) => ca)).size).toBe(1)
  })

  test('a lease of one is renewed at another, shown and ended at a third, and then is over at all of them', async () => {
    const lease = await a.register('wanderer', { ttl: 60 })
    const shown = await c.call('GET', '/api/state')
    expect(shown.text).toContain('"name":"wanderer"')
    const renewed = await renew(b, lease, { ttl: 600, metadata: { description: 'renewed elsewhere' } })
    expect(renewed.status).toBe(200)
    const { expires_at } = renewed.json.data as unknown as RegisterResponse
    for (const relay of [a, c])
      await expect
        .poll(async () => (await relay.call('GET', '/api/state')).text)
        .toContain('renewed elsewhere')
    const known = (await reverse(c, lease)).json.data as unknown as { expires_at: string }
    // Times of leases are those of Redis's clock, which each machine knows to 50 ms.
    expect(Math.abs(Date.parse(known.expires_at) - Date.parse(expires_at))).toBeLessThan(200)
    expect((await unregister(c, lease)).status).toBe(200)
    for (const relay of cluster.relays) expect(errorOf(await renew(relay, lease))).toEqual(NOT_FOUND)
    expect((await a.call('GET', '/api/state')).text).not.toContain('wanderer')
  })

  test('a challenge of one is taken at another, once', async () => {
    const lease = await registerBetween(a, b, 'handed')
    expect((await renew(c, lease)).status).toBe(200)
    const account = newAccount()
    const identity = { name: 'once', address: account.address }
    const { challenge_id, siwe_message } = (await a.call('POST', '/sdk/register/challenge', { identity }))
      .json.data as unknown as RegisterChallengeResponse
    const proof = {
      challenge_id,
      siwe_message,
      siwe_signature: await account.signMessage({ message: siwe_message }),
    }
    const answers = await Promise.all([a, b, c].map((relay) => relay.call('POST', '/sdk/register', proof)))
    expect(
      answers
        .map(({ status, json }) => (status === 201 ? 'registered' : json))
        .filter((one) => one !== 'registered'),
    ).toEqual(
      Array(2).fill({
        ok: false,
        error: { code: 'unauthorized', message: 'challenge_id is unknown, used or expired' },
      }),
    )
  })

  test('a name of one is nobody else’s at another, with an active lease and after it', async () => {
    const account = newAccount()
    const lease = await a.register('taken', { account })
    await expect(b.register('taken')).rejects.toThrow('hostname_conflict')
    const fallback = await c.register('taken', { allow_canonical_fallback: true })
    expect(fallback).toMatchObject({ hostname: '', canonical_hostname: expect.stringMatching(/^taken-/) })
    await unregister(b, lease)
    for (const relay of cluster.relays)
      await expect(relay.register('taken')).rejects.toThrow('hostname_conflict')
    expect(await c.register('taken', { account })).toMatchObject({ hostname: lease.hostname })
  })

  test('of those who want a name at the same moment, one gets it', async () => {
    const identities = Array.from({ length: 9 }, newAccount)
    const outcomes = await Promise.allSettled(
      identities.map((account, at) => cluster.relays[at % 3]!.register('race', { account })),
    )
    const won = outcomes.filter(({ status }) => status === 'fulfilled')
    expect(won).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(String(outcome.reason)).toContain('hostname_conflict')
  })

  test('an identity that registers at all machines at the same moment has one lease afterwards', async () => {
    const account = newAccount()
    const outcomes = await Promise.allSettled(
      [a, b, c, a, b, c].map((relay) => relay.register('twins', { account })),
    )
    const leases = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    expect(leases.length).toBeGreaterThan(0)
    await expect
      .poll(async () => {
        const found = await Promise.all(
          cluster.relays.flatMap((relay) => leases.map((lease) => reverse(relay, lease))),
        )
        return found.filter(({ status }) => status === 200).length
      })
      .toBe(3)
    const valid = await Promise.all(
      leases.map(async (lease) => {
        const answers = await Promise.all(cluster.relays.map((relay) => reverse(relay, lease)))
        return answers.map(({ status }) => status).join()
      }),
    )
    expect(valid.filter((statuses) => statuses === '200,200,200')).toHaveLength(1)
  })

  test('a lease that is replaced at another machine ends everywhere, and its carrier with 4002', async () => {
    const account = newAccount()
    const old = await a.register('moved', { account })
    const carriers = [
      await openCarrier(a, old.reverse_endpoint.capability),
      await openCarrier(c, old.reverse_endpoint.capability),
    ]
    const lease = await b.register('moved', { account })
    expect(await Promise.all(carriers.map(({ closeCode }) => closeCode))).toEqual([4002, 4002])
    for (const relay of cluster.relays) {
      expect(errorOf(await renew(relay, old))).toEqual(NOT_FOUND)
      expect((await reverse(relay, lease)).status).toBe(200)
    }
  })

  test('a lease that is ended at another machine ends its carrier with 4001', async () => {
    const lease = await a.register('left')
    const carrier = await openCarrier(a, lease.reverse_endpoint.capability)
    await unregister(b, lease)
    expect(await carrier.closeCode).toBe(4001)
  })

  test('a lease expires at all machines, and its carrier ends with 4001', async () => {
    const lease = await a.register('short', { ttl: 2 })
    const carrier = await openCarrier(b, lease.reverse_endpoint.capability)
    expect(await carrier.closeCode).toBe(4001)
    for (const relay of cluster.relays)
      await expect
        .poll(async () => (await relay.call('GET', '/api/state')).text)
        .not.toContain('"name":"short"')
    await expect(c.register('short')).rejects.toThrow('hostname_conflict')
  })

  test('a site of one machine gets its signature from a third, for a visitor of the second, once', async () => {
    const lease = await a.register('signer')
    const carrier = await openCarrier(a, lease.reverse_endpoint.capability)
    const chain = [new X509Certificate((await a.call('GET', '/sdk/certificate-chain')).text).raw]
    const fields = genuine(await activate(b, carrier, lease), chain)
    // The mistake of another lease uses nothing up.
    const stranger = await b.register('stranger')
    expect((await sign(c, stranger.access_token, fields)).status).toBe(403)
    expect((await sign(c, lease.access_token, fields)).status).toBe(200)
    for (const relay of cluster.relays)
      expect((await sign(relay, lease.access_token, fields)).status).toBe(403)
  })
})

// A registration costs 6 units; 60 are possible at once, and 1 more comes in 6 seconds.
describe.skipIf(whyNoRedis() !== undefined)(`the budgets of clients (skipped: ${whyNoRedis()})`, () => {
  let one: ClusterRelay
  let other: ClusterRelay
  beforeEach(async () => {
    cluster = await startClusterRelays(2, { SOURCE_BUDGET_PER_MINUTE: '10' })
    ;[one, other] = cluster.relays as [ClusterRelay, ClusterRelay]
  })
  afterEach(() => cluster?.close())

  const challenge = (relay: TestClient): Promise<Answer> =>
    relay.call('POST', '/sdk/register/challenge', {
      identity: { name: 'last', address: newAccount().address },
    })

  wholeOnly(test, 'clock')(
    'are those of all machines together, and the answer says how long to wait',
    async () => {
      for (let i = 0; i < 5; i++) {
        await one.register(`first-${i}`)
        await other.register(`second-${i}`)
      }
      let last = await challenge(other)
      // on a slow machine units have come back
      while (last.status === 201) last = await challenge(one)
      expect(last.json.error).toMatchObject({
        code: 'rate_limited',
        message: expect.stringContaining('SOURCE_BUDGET_PER_MINUTE'),
      })
      expect(Number(last.headers['retry-after'])).toBeGreaterThan(0)
      expect(Number(last.headers['retry-after'])).toBeLessThanOrEqual(6)
    },
  )

  wholeOnly(test, 'clock')(
    'get the units of a registration back when the site unregisters, at whichever machine',
    async () => {
      const first = await one.register('first')
      for (let i = 1; i < 10; i++) await one.register(`more-${i}`)
      while ((await challenge(one)).status === 201);
      await expect(other.register('refused')).rejects.toThrow('rate_limited')
      expect((await unregister(other, first)).status).toBe(200)
      await other.register('last')
    },
  )
})

describe.skipIf(whyNoRedis() !== undefined)(`statements of sites (skipped: ${whyNoRedis()})`, () => {
  let relays: ClusterRelays
  beforeAll(async () => {
    relays = await startClusterRelays(2, { DISCOVERY: 'true', DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true' })
  })
  afterAll(() => relays?.close())

  test('are known at every machine, whichever got the renewal', async () => {
    const [one, other] = relays.relays as [ClusterRelay, ClusterRelay]
    const account = newAccount()
    const lease = await one.register('stated', { account, ttl: 600 })
    const session = await nativeSession(one, lease.reverse_endpoint.capability, [])
    const canonical = canonicalLabel('stated', account.address.toLowerCase())
    const question = hash('sha256', siteQuestionText(canonical))
    for (const [index, at] of [one, other, one].entries()) {
      const statement = await makeStatement({
        by: account,
        canonicalLabel: canonical,
        origin: one.origin,
        issuedAt: Date.now() + index,
        expiresAt: Date.now() + 240_000,
      })
      expect((await renew(at, lease, { ttl: 600, statement })).status).toBe(200)
      for (const asked of [one, other])
        await expect
          .poll(async () => (await asked.call('GET', `/discovery/site?site=${question}`)).json.data)
          .toEqual({ here: true, statement })
    }
    session.abort()
  })
})
