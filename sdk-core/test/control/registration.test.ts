// Registration: nothing is signed but the one message, and nothing is believed but what the protocol allows.

import { EXTENSIONS } from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { atDepth } from '../../../tools/test-depth.ts'
import { fetchEndpoint } from '../../src/control/endpoint.ts'
import type { LeaseRequest } from '../../src/control/lease.ts'
import { ENDPOINTS_REFUSED_MAX } from '../../src/control/limits.ts'
import { previousOwner } from '../../src/control/previous-owner.ts'
import { prove, register, renew, unregister } from '../../src/control/registration.ts'
import { identityFromKey } from '../../src/identity/key.ts'
import { createGatewayCheck } from '../../src/relays/gateway-check.ts'
import {
  CHALLENGE_ID,
  type FakeRelay,
  failure,
  goodMessage,
  goodReplies,
  grant,
  registration,
  startFakeRelay,
} from '../support/fake-relay.ts'
import { describeRelay } from '../support/relay-descriptors.ts'

const identity = identityFromKey(new Uint8Array(32).fill(1))
const { address } = identity
const DAY_MS = 24 * 3_600_000
const personalSign = vi.fn(identity.personalSign)
const request: LeaseRequest = {
  name: 'demo',
  identity: { address, personalSign },
  ttlS: 120,
  allowCanonicalFallback: false,
  metadata: { description: 'a demo', hide: true },
}

let relay: FakeRelay
beforeEach(async () => {
  personalSign.mockClear()
  relay = await startFakeRelay({ ...goodReplies(), '/sdk/register': () => registration(address) })
})
afterEach(() => relay.close())

async function enrol(client: FakeRelay['client'], asked: LeaseRequest): ReturnType<typeof register> {
  return register(client, asked, await prove(client, asked))
}

describe('register', () => {
  it('asks domain, challenge, register, and sends what the protocol says', async () => {
    expect(await enrol(relay.client, request)).toEqual({
      hostname: 'demo.relay.example',
      canonicalHostname: `demo-${address.slice(2).toLowerCase()}.relay.example`,
      accessToken: 'access.1',
      capability: 'capability.1',
      carrierUrl: 'wss://relay.example:4433/sdk/connect',
      isGateway: false,
      expiresAt: Date.parse('2026-01-02T03:06:06Z'),
      release: '0.1.0',
      extensions: new Set(),
      routing: 'allowed',
      answer: registration(address),
    })
    expect(relay.calls.map(({ path }) => path)).toEqual([
      '/sdk/domain',
      '/sdk/register/challenge',
      '/sdk/register',
    ])
    expect(relay.calls[1]!.body).toEqual({
      identity: { name: 'demo', address },
      allow_canonical_fallback: false,
      metadata: { description: 'a demo', hide: true },
      ttl: 120,
    })
    expect(relay.calls[2]!.body).toEqual({
      challenge_id: CHALLENGE_ID,
      siwe_message: goodMessage(address),
      siwe_signature: identity.personalSign(goodMessage(address)),
    })
  })

  it('permits a static cache only where the relay has one, and knows its limits then', async () => {
    const asked = { ...request, cache: { ttlS: 60 } }
    expect((await enrol(relay.client, asked)).cacheLimits).toBeUndefined()
    const limits = { max_exposure_bytes: 100, max_object_size: 10 }
    relay.replies['/sdk/domain'] = () => ({ protocol_version: '10', cache: limits })
    const { cacheLimits } = await enrol(relay.client, asked)
    expect(cacheLimits).toEqual({ maxExposureBytes: 100, maxObjectBytes: 10 })
    expect((await enrol(relay.client, request)).cacheLimits).toEqual(cacheLimits)
    const challenges = relay.calls.filter(({ path }) => path === '/sdk/register/challenge')
    expect(challenges.map(({ body: { cache, cache_ttl } }) => [cache, cache_ttl])).toEqual([
      [undefined, undefined],
      [true, 60],
      [undefined, undefined],
    ])
  })

  it.each([
    true,
    [],
    { max_exposure_bytes: 100 },
    { max_exposure_bytes: 0, max_object_size: 10 },
    { max_exposure_bytes: '100', max_object_size: 10 },
    { max_exposure_bytes: 1e300, max_object_size: 10 },
  ])('asks for no static cache where its limits are %j', async (cache) => {
    relay.replies['/sdk/domain'] = () => ({ protocol_version: '10', cache })
    await enrol(relay.client, { ...request, cache: { ttlS: 0 } })
    expect(relay.calls[1]!.body).not.toHaveProperty('cache')
  })

  it.each([
    [
      ['hello_retry_request', 'sha384'],
      ['hello_retry_request', 'sha384'],
    ],
    [['teleport', 'sha384', 7, null, 'sha384'], ['sha384']],
    ['sha384', []],
    [{ sha384: true }, []],
    [null, []],
  ])('finds in the extensions %j those that it knows (protocol §4.1.2)', async (listed, known) => {
    relay.replies['/sdk/domain'] = () => ({ protocol_version: '10', extensions: listed })
    const { extensions } = await enrol(relay.client, request)
    expect(EXTENSIONS.filter((extension) => extensions.has(extension))).toEqual(known)
  })

  it.each([
    [
      '11',
      '2.0.0',
      'the relay (release 2.0.0) speaks protocol 11, this SDK protocol 10: the SDK has to be upgraded',
    ],
    [
      '9',
      undefined,
      'the relay speaks protocol 9, this SDK protocol 10: its operator has to upgrade the relay',
    ],
    ['10.1', '<b>', 'the relay speaks protocol 10.1, this SDK protocol 10: one of them has to be upgraded'],
  ])(
    'registers at no relay of protocol %s, and says who has to upgrade (protocol §4.1.1)',
    async (theirs, release, message) => {
      relay.replies['/sdk/domain'] = () => ({ protocol_version: theirs, release_version: release })
      await expect(enrol(relay.client, request)).rejects.toMatchObject({
        code: 'incompatible_relay',
        message,
      })
      // It may have asked for a challenge meanwhile, and signs none.
      expect(relay.calls.map(({ path }) => path)).not.toContain('/sdk/register')
    },
  )

  it.each([
    ['0.1.0', '0.1.0'],
    [undefined, undefined],
    [7, undefined],
    ['\u001b[2J', undefined],
  ])('takes the release %j as %j', async (release, known) => {
    relay.replies['/sdk/domain'] = () => ({ protocol_version: '10', release_version: release })
    expect((await enrol(relay.client, request)).release).toBe(known)
  })

  it('passes hostname_conflict through', async () => {
    relay.replies['/sdk/register'] = failure(409, 'hostname_conflict')
    await expect(enrol(relay.client, request)).rejects.toMatchObject({ code: 'hostname_conflict' })
  })

  it('takes a canonical-only registration when that was allowed, and only then', async () => {
    relay.replies['/sdk/register'] = () => ({ ...registration(address), hostname: '' })
    await expect(enrol(relay.client, request)).rejects.toMatchObject({ code: 'unexpected_answer' })
    const { hostname } = await enrol(relay.client, { ...request, allowCanonicalFallback: true })
    expect(hostname).toBe('')
  })
})

describe('SIWE message: read before it is signed (EIP-4361)', () => {
  const other = identityFromKey(new Uint8Array(32).fill(2)).address
  const good = goodMessage(address)

  async function refused(
    message: unknown,
    id: unknown = CHALLENGE_ID,
    code = 'siwe_mismatch',
  ): Promise<void> {
    relay.replies['/sdk/register/challenge'] = () => ({ challenge_id: id, siwe_message: message })
    await expect(enrol(relay.client, request)).rejects.toMatchObject({ code })
    expect(personalSign).not.toHaveBeenCalled()
    expect(relay.calls.some(({ path }) => path === '/sdk/register')).toBe(false)
  }

  it.each([
    ['domain', 'relay.example:4433 wants', 'bank.example wants'],
    ['port', 'relay.example:4433 wants', 'relay.example wants'],
    ['address', address, other],
    ['address case', address, address.toLowerCase()],
    ['statement', 'Register a svc lease', 'Send all my coins'],
    ['URI', 'https://relay.example:4433/sdk/register', 'https://bank.example/login'],
    ['URI path', '/sdk/register', '/sdk/unregister'],
    ['version', 'Version: 1', 'Version: 2'],
    ['chain', 'Chain ID: 1', 'Chain ID: 5'],
    ['short nonce', 'kEWepMt9knR6lWJ6A', 'short'],
    ['request id', CHALLENGE_ID, 'rch_ffffffffffffffff'],
    ['resources', /$/, '\nResources:\n- https://bank.example'],
    ['not before', '\nRequest ID', '\nNot Before: 2026-01-02T03:04:05Z\nRequest ID'],
    ['leading line', /^/, '\n'],
    ['CRLF', /\n/g, '\r\n'],
  ])('refuses another %s', async (_, from, to) => {
    expect(good.replace(from, to)).not.toBe(good)
    await refused(
      good.replace(from, to),
      CHALLENGE_ID,
      to.includes('\r') ? 'unexpected_answer' : 'siwe_mismatch',
    )
  })

  it('refuses the message when any byte outside nonce and times changes, is missing or is doubled (protocol §4.3.3)', async () => {
    const free = [/Nonce: (.*)/, /Issued At: (.*)/, /Expiration Time: (.*)/].map((line) => {
      const { index, 0: whole, 1: value } = line.exec(good)!
      return { from: index + whole.length - value!.length, to: index + whole.length }
    })
    const fixed = Array.from(good, (_, at) => at).filter(
      (at) => !free.some(({ from, to }) => at >= from && at < to),
    )
    for (const at of fixed.filter((_, index) => index % atDepth(1, 5) === 0)) {
      const changed = String.fromCharCode(good.charCodeAt(at) ^ 1)
      await refused(
        good.slice(0, at) + changed + good.slice(at + 1),
        CHALLENGE_ID,
        expect.stringMatching(/./),
      )
      await refused(good.slice(0, at) + good.slice(at + 1))
      await refused(good.slice(0, at) + good[at] + good.slice(at))
    }
    expect(fixed.length).toBeGreaterThan(200)
  })

  it.each([
    ['no message', undefined, CHALLENGE_ID],
    ['a number', 7, CHALLENGE_ID],
    ['a long one', good + ' '.repeat(3000), CHALLENGE_ID],
    ['another form of id', good.replace(CHALLENGE_ID, 'rch_1'), 'rch_1'],
    ['an id with a line break', good, `${CHALLENGE_ID}\n`],
  ])('refuses %s', (_, message, id) => refused(message, id, 'unexpected_answer'))
})

describe('registration answer', () => {
  const endpoint = grant('1').reverse_endpoint
  it.each([
    ['another name', { identity: { name: 'other', address } }, 'unexpected_answer'],
    ['another address', { identity: { name: 'demo', address: `0x${'1'.repeat(40)}` } }, 'unexpected_answer'],
    ['no identity', { identity: undefined }, 'unexpected_answer'],
    ['a hostname elsewhere', { hostname: 'demo.bank.example' }, 'unexpected_answer'],
    ['a hostname two labels deep', { hostname: 'a.demo.relay.example' }, 'unexpected_answer'],
    ['the root host', { canonical_hostname: 'relay.example' }, 'unexpected_answer'],
    ['a hostname with a path', { hostname: 'demo.relay.example/x' }, 'unexpected_answer'],
    ['no canonical hostname', { canonical_hostname: '' }, 'unexpected_answer'],
    ['a token with a line break', { access_token: 'a\r\nX: y' }, 'unexpected_answer'],
    ['no token', { access_token: '' }, 'unexpected_answer'],
    ['a token of 8193 characters', { access_token: 'a'.repeat(8193) }, 'unexpected_answer'],
    ['no time', { expires_at: 'tomorrow' }, 'unexpected_answer'],
    ['a 13th month', { expires_at: '2026-13-01T00:00:00Z' }, 'unexpected_answer'],
    ['no endpoint', { reverse_endpoint: undefined }, 'unexpected_answer'],
    [
      'a capability with a comma',
      { reverse_endpoint: { ...endpoint, capability: 'a, b' } },
      'unexpected_answer',
    ],
    [
      'a capability of 8193 bytes',
      { reverse_endpoint: { ...endpoint, capability: 'a'.repeat(8193) } },
      'unexpected_answer',
    ],
    [
      'an http endpoint',
      { reverse_endpoint: { ...endpoint, url: 'http://relay.example:4433/' } },
      'unexpected_answer',
    ],
  ])('refuses %s', async (_, change, code) => {
    relay.replies['/sdk/register'] = () => ({ ...registration(address), ...change })
    await expect(enrol(relay.client, request)).rejects.toMatchObject({ code })
  })

  describe('with previous_owner', () => {
    const noticeAt = async (previous_owner: unknown, hostname?: string): Promise<string | undefined> => {
      const named = hostname === undefined ? {} : { hostname }
      relay.replies['/sdk/register'] = () => ({ ...registration(address), previous_owner, ...named })
      const notice = previousOwner(await enrol(relay.client, { ...request, allowCanonicalFallback: true }))
      if (notice) expect(notice.code).toBe('name_had_other_owner')
      return notice?.message
    }

    it('says until when another identity had the name', async () => {
      const said = await noticeAt({ until: '2026-01-02T03:04:05Z' })
      expect(said).toContain('demo.relay.example belonged to another identity until 2026-01-02T03:04:05.000Z')
      expect(said).not.toContain('certificate')
    })

    it('says how long its certificate may be valid', async () => {
      const times = { until: '2026-01-02T03:04:05Z', certified_until: '2026-03-02T03:00:00Z' }
      expect(await noticeAt(times)).toContain('a certificate for it until 2026-03-02T03:00:00.000Z')
    })

    it.each([undefined, null, true, [], {}, { until: 7 }, { until: 'yesterday\u001b[2J' }])(
      'says nothing of %j',
      async (previous) => {
        expect(await noticeAt(previous)).toBeUndefined()
      },
    )

    it('says nothing where the site did not get the name', async () => {
      expect(await noticeAt({ until: '2026-01-02T03:04:05Z' }, '')).toBeUndefined()
    })
  })

  describe('with udp_tunnel_addr', () => {
    const withUdp = { ...request, udp: true }
    const enrolAt = (
      udp_tunnel_addr: unknown,
      asked: LeaseRequest = withUdp,
    ): ReturnType<typeof register> => {
      relay.replies['/sdk/register'] = () => ({
        ...registration(address),
        udp_addr: 'relay.example:30001',
        udp_tunnel_addr,
      })
      return enrol(relay.client, asked)
    }

    it.each([
      ['machine-2.relay.example:443', { host: 'machine-2.relay.example', port: 443 }],
      ['Machine_2:1', { host: 'machine_2', port: 1 }],
      ['192.0.2.7:65535', { host: '192.0.2.7', port: 65_535 }],
      ['[2001:DB8:0:0::7]:4433', { host: '2001:db8::7', port: 4433 }],
      [undefined, undefined],
    ])('%s takes it as %j', async (text, tunnelAddress) => {
      expect((await enrolAt(text)).tunnelAddress).toEqual(tunnelAddress)
    })

    it.each([
      'relay.example',
      'relay.example:',
      'relay.example:0',
      'relay.example:65536',
      'relay.example:443443',
      'relay.example:0443',
      'relay.example:443/',
      'relay.example/x:443',
      'https://relay.example:443',
      'a@relay.example:443',
      'relay.example:443\n',
      ' relay.example:443',
      'relay%2eexample:443',
      ':443',
      '2001:db8::7:443',
      '[2001:db8::7]',
      '[2001:db8::7::1]:443',
      '[192.0.2.7]:443',
      '192.0.2:443',
      '192.0.2.256:443',
      `${'a'.repeat(254)}:443`,
      '',
      443,
      null,
      ['relay.example:443'],
    ])('%j refuses it, and gives the lease back', async (text) => {
      await expect(enrolAt(text)).rejects.toMatchObject({ code: 'unexpected_answer' })
      expect(relay.calls.at(-1)!.path).toBe('/sdk/unregister')
    })

    it('does not matter to a site without UDP', async () => {
      expect((await enrolAt('nonsense', request)).tunnelAddress).toBeUndefined()
    })
  })

  it('is given back when it is of no use', async () => {
    relay.replies['/sdk/register'] = () => ({ ...registration(address), hostname: 'demo.bank.example' })
    await expect(enrol(relay.client, request)).rejects.toMatchObject({ code: 'unexpected_answer' })
    expect(relay.calls.at(-1)).toMatchObject({
      path: '/sdk/unregister',
      body: { access_token: 'access.1' },
    })
  })

  it.each([
    ['approval', 'approval'],
    ['rejected', 'rejected'],
    ['allowed', 'allowed'],
    [undefined, 'allowed'],
    ['a word of later relays', 'allowed'],
  ])('with the routing %s is taken as %s', async (routing, taken) => {
    relay.replies['/sdk/register'] = () => ({
      ...registration(address),
      reverse_endpoint: { ...endpoint, routing },
    })
    expect((await enrol(relay.client, request)).routing).toBe(taken)
  })

  it.each(['/sdk/register/challenge', '/sdk/register'])(
    'of a relay that has no room for another lease at %s says so',
    async (path) => {
      relay.replies[path] = failure(503, 'feature_unavailable', { 'Retry-After': '9' })
      await expect(enrol(relay.client, request)).rejects.toMatchObject({
        code: 'relay_full',
        retryAfterMs: 9_000,
        message: 'told to',
      })
    },
  )

  describe.each([
    ['another host', { url: 'https://gw.example/sdk/connect' }],
    ['another port', { url: 'https://relay.example/sdk/connect' }],
    ['an overlay endpoint', { overlay: true }],
  ])('with %s for the reverse sessions', (_, change) => {
    const alternate = { ...endpoint, ...change }

    it('asks for another, naming that one, and takes the one of the relay', async () => {
      relay.replies['/sdk/register'] = () => ({ ...registration(address), reverse_endpoint: alternate })
      relay.replies['/sdk/reverse'] = () => ({ ...endpoint, capability: 'capability.9' })
      expect(await enrol(relay.client, request)).toMatchObject({
        capability: 'capability.9',
        carrierUrl: 'wss://relay.example:4433/sdk/connect',
      })
      expect(relay.calls.at(-1)).toMatchObject({
        path: '/sdk/reverse',
        body: { access_token: 'access.1', failed_url: alternate.url },
      })
      relay.replies['/sdk/renew'] = () => ({ ...grant('2'), reverse_endpoint: alternate })
      expect(await renew(relay.client, request, 'access.1')).toMatchObject({
        accessToken: 'access.2',
        capability: 'capability.9',
      })
    })

    it('refuses when the relay knows no other, and gives the lease back (protocol §4.4.6, §4.5.1, §4.5.2)', async () => {
      relay.replies['/sdk/register'] = () => ({ ...registration(address), reverse_endpoint: alternate })
      relay.replies['/sdk/reverse'] = () => alternate
      await expect(enrol(relay.client, request)).rejects.toMatchObject({ code: 'alternate_gateway' })
      expect(relay.calls.filter(({ path }) => path === '/sdk/reverse')).toHaveLength(ENDPOINTS_REFUSED_MAX)
      expect(relay.calls.at(-1)!.path).toBe('/sdk/unregister')
    })
  })

  describe('at a site that takes gateways', () => {
    const overlaid = () => ({ ...request, checkGateway: createGatewayCheck() })
    const gatewayUrl = 'https://gw.example/sdk/connect'
    const gateway = (fields = {}) =>
      describeRelay('https://gw.example', { supports_overlay: true, ...fields })
    const endingAt = (ms: number) =>
      gateway({ issued_at: new Date(ms - 60_000).toISOString(), expires_at: new Date(ms).toISOString() })
    const through = (change = {}) => ({
      ...endpoint,
      url: gatewayUrl,
      overlay: true,
      gateway: gateway(),
      ...change,
    })

    it('takes one with a genuine descriptor of its URL, and says so at the challenge (protocol §17.3.1)', async () => {
      relay.replies['/sdk/register'] = () => ({ ...registration(address), reverse_endpoint: through() })
      expect(await enrol(relay.client, overlaid())).toMatchObject({
        carrierUrl: 'wss://gw.example/sdk/connect',
        isGateway: true,
      })
      const challenge = relay.calls.find(({ path }) => path === '/sdk/register/challenge')
      expect(challenge).toMatchObject({ body: { overlay: true } })
    })

    it('takes the direct endpoint of a relay without gateways', async () => {
      relay.replies['/sdk/register'] = () => registration(address)
      expect(await enrol(relay.client, overlaid())).toMatchObject({ isGateway: false })
    })

    it.each([
      ['no descriptor', { gateway: undefined }],
      ['a forged descriptor', { gateway: { ...gateway(), active_connections: 7 } }],
      ['an expired descriptor', { gateway: gateway({ expires_at: '2020-01-02T03:04:05Z' }) }],
      [
        'the descriptor of another URL',
        { gateway: describeRelay('https://x.example', { supports_overlay: true }) },
      ],
      ['the descriptor of another port', { url: 'https://gw.example:444/sdk/connect' }],
      ['a relay without an overlay', { gateway: gateway({ supports_overlay: false }) }],
      ['a gateway that is called direct', { overlay: false }],
      ['another path', { url: 'https://gw.example/sdk/connect/more' }],
      ['a query', { url: 'https://gw.example/sdk/connect?site=demo' }],
      ['credentials in the URL', { url: 'https://a:b@gw.example/sdk/connect' }],
    ])('refuses %s, and takes the next endpoint (protocol §4.5.3, §17.3.1)', async (_, change) => {
      relay.replies['/sdk/register'] = () => ({ ...registration(address), reverse_endpoint: through(change) })
      relay.replies['/sdk/reverse'] = () => endpoint
      expect(await enrol(relay.client, overlaid())).toMatchObject({ isGateway: false })
      expect(relay.calls.at(-1)).toMatchObject({ body: { failed_url: through(change).url } })
    })

    it('refuses a descriptor that ended long ago, whatever time the relay says', async () => {
      const check = createGatewayCheck()
      const at = (expiresAt: number): Promise<boolean> =>
        check(new URL(gatewayUrl), endingAt(expiresAt), Date.now() - 3 * DAY_MS)
      expect(await at(Date.now() - DAY_MS / 2)).toBe(true)
      expect(await at(Date.now() - 2 * DAY_MS)).toBe(false)
    })

    it('refuses a descriptor older than one that it took, for as long as the site lives', async () => {
      const check = createGatewayCheck()
      const now = Date.now()
      const issuedAt = (ms: number): Promise<boolean> =>
        check(new URL(gatewayUrl), gateway({ issued_at: new Date(ms).toISOString() }), now)
      expect(await issuedAt(now - 20_000)).toBe(true)
      expect(await issuedAt(now - 10_000)).toBe(true)
      expect(await issuedAt(now - 20_000)).toBe(false)
      expect(await issuedAt(now - 10_000)).toBe(true)
    })

    it('avoids a gateway that failed', async () => {
      relay.replies['/sdk/reverse'] = () => endpoint
      const lease = { accessToken: 'access.1', checkGateway: createGatewayCheck() }
      const failed = { carrierUrl: 'wss://gw.example/sdk/connect' }
      expect(await fetchEndpoint(relay.client, lease, undefined, failed)).toMatchObject({ isGateway: false })
      expect(relay.calls.at(-1)).toMatchObject({ body: { failed_url: gatewayUrl } })
    })
  })

  it('takes a capability of 8192 bytes', async () => {
    const capability = 'a'.repeat(8192)
    relay.replies['/sdk/register'] = () => ({
      ...registration(address),
      reverse_endpoint: { ...endpoint, capability },
    })
    expect((await enrol(relay.client, request)).capability).toBe(capability)
  })

  it('never quotes a token in an error', async () => {
    relay.replies['/sdk/register'] = () => ({ ...registration(address), access_token: 'secret token' })
    const error = await enrol(relay.client, request).catch((caught) => caught)
    expect(error.message).not.toContain('secret')
  })
})

describe('renew and unregister', () => {
  it('send the token in the body', async () => {
    expect(await renew(relay.client, request, 'access.1')).toMatchObject({ accessToken: 'access.2' })
    await unregister(relay.client, 'access.2', true)
    expect(relay.calls.map(({ path, body }) => [path, body])).toEqual([
      ['/sdk/renew', { access_token: 'access.1', ttl: 120, metadata: request.metadata }],
      ['/sdk/unregister', { access_token: 'access.2' }],
    ])
  })
})
