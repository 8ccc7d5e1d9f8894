// The control plane over real HTTPS: envelopes, statuses, CORS, and every documented refusal of this step.

import { once } from 'node:events'
import { connect as connectTls } from 'node:tls'
import type { RegisterChallengeResponse, RegisterResponse } from '@svc/protocol'
import { describe, expect, test } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { registerChallengeRequest } from '../../src/core/api/endpoints/request-schemas.ts'
import { newAccount, startTestRelay } from '../support/relay.ts'

const relay = useStarted(startTestRelay)

const identity = (name: string, account = newAccount()) => ({ name, address: account.address })
const challenge = (body: unknown) => relay.call('POST', '/sdk/register/challenge', body)

async function openChallenge(name: string, account: ReturnType<typeof newAccount>) {
  const answer = await challenge({ identity: identity(name, account) })
  return answer.json.data as unknown as RegisterChallengeResponse
}

describe('GET endpoints', () => {
  test('/sdk/domain tells protocol and release', async () => {
    const answer = await relay.call('GET', '/sdk/domain')
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.json).toMatchObject({
      ok: true,
      data: {
        protocol_version: '10',
        release_version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        ens: { enabled: false },
      },
    })
  })

  test('/api/healthz and /api/state (protocol §4.6.4)', async () => {
    expect(await relay.call('GET', '/api/healthz')).toMatchObject({
      json: { ok: true, data: { status: 'ok' } },
    })
    await relay.register('shown', { metadata: { description: 'a site', tags: ['a'] } })
    await relay.register('hidden', { metadata: { hide: true } })
    const { data } = (await relay.call('GET', '/api/state')).json as unknown as {
      data: { leases: { name: string }[] }
    }
    expect(data).toMatchObject({ landing_page_enabled: true })
    expect(data.leases).toEqual([
      expect.objectContaining({
        name: 'shown',
        hostname: 'shown.relay.localhost',
        ready: 0,
        metadata: { description: 'a site', tags: ['a'] },
      }),
    ])
  })

  test('unknown routes are a plain 404, another method an enveloped 405 with Allow', async () => {
    expect(await relay.call('GET', '/nothing')).toMatchObject({ status: 404, text: 'Not found\n' })
    expect(await relay.call('GET', '/constructor')).toMatchObject({ status: 404 })
    expect(await relay.call('GET', '/sdk/register')).toMatchObject({
      status: 405,
      headers: { allow: 'POST' },
      json: { ok: false, error: { code: 'method_not_allowed' } },
    })
  })

  test('HTTP/2 is not offered on the API listener (protocol §2.1.1)', async () => {
    const socket = connectTls({
      host: '127.0.0.1',
      port: relay.port,
      servername: 'relay.localhost',
      ca: relay.ca,
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    await once(socket, 'secureConnect')
    expect(socket.alpnProtocol).toBe('http/1.1')
    socket.destroy()
  })
})

describe('CORS', () => {
  test('any origin may call /sdk/* and /v1/sign, with a preflight kept for a day (protocol §2.3.1, §2.3.2)', async () => {
    for (const path of ['/sdk/register', '/v1/sign']) {
      const preflight = await relay.call('OPTIONS', path, undefined, { Origin: 'https://anywhere.example' })
      expect(preflight).toMatchObject({
        status: 204,
        headers: {
          'access-control-allow-origin': '*',
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'Content-Type, X-Svc-Access-Token',
          'access-control-max-age': '86400',
        },
      })
    }
    const failed = await relay.call('POST', '/sdk/renew', {})
    expect(failed.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'Date, Retry-After, X-Request-Id',
    })
  })

  test('nobody else gets the header', async () => {
    expect((await relay.call('GET', '/api/state')).headers).not.toHaveProperty('access-control-allow-origin')
    expect(await relay.call('OPTIONS', '/api/state')).toMatchObject({ status: 405 })
  })
})

describe('registration', () => {
  test('challenge and register answer 201; the lease has both hostnames and its credentials', async () => {
    const account = newAccount()
    const lease = await relay.register(' Demo ', { account })
    const address = account.address.toLowerCase()
    expect(lease).toMatchObject({
      identity: { name: 'demo', address },
      hostname: 'demo.relay.localhost',
      canonical_hostname: `demo-${address.slice(2)}.relay.localhost`,
      udp_enabled: false,
      tcp_enabled: false,
      reverse_endpoint: { url: `${relay.origin}/sdk/connect`, overlay: false },
    })
    expect(lease.reverse_endpoint.expires_at <= lease.expires_at).toBe(true)
  })

  test('the challenge asks for exactly the message of the contract (protocol §4.3.2)', async () => {
    const account = newAccount()
    const { siwe_message, challenge_id } = await openChallenge('message', account)
    const host = `relay.localhost:${relay.port}`
    const [nonce, issued, expires] = ['Nonce', 'Issued At', 'Expiration Time'].map(
      (field) => new RegExp(`^${field}: (.*)$`, 'm').exec(siwe_message)?.[1],
    )
    expect(siwe_message.split('\n')).toEqual([
      `${host} wants you to sign in with your Ethereum account:`,
      account.address,
      '',
      'Register a svc lease',
      '',
      `URI: https://${host}/sdk/register`,
      'Version: 1',
      'Chain ID: 1',
      `Nonce: ${nonce}`,
      `Issued At: ${issued}`,
      `Expiration Time: ${expires}`,
      `Request ID: ${challenge_id}`,
    ])
    expect(nonce).toMatch(/^[a-z0-9]{24}$/)
    expect(Date.parse(expires!) - Date.parse(issued!)).toBe(120_000)
  })

  test.each([
    ['a name of 23 characters', { name: 'a'.repeat(23) }, 'invalid_request'],
    ['a name of two labels', { name: 'a.b' }, 'invalid_request'],
    ['a name that begins with a hyphen', { name: '-a' }, 'invalid_request'],
    ['a name that is not ASCII', { name: 'bücher' }, 'invalid_request'],
    ['an invalid address', { address: '0x12' }, 'invalid_address'],
    ['a name that is a number', { name: 1 }, 'invalid_request'],
  ])('%s is refused', async (_name, change, code) => {
    const answer = await challenge({ identity: { ...identity('fine'), ...change } })
    expect(answer).toMatchObject({ status: 400, json: { ok: false, error: { code } } })
    expect(answer.json).not.toHaveProperty('data')
  })

  test('names of 22 characters are fine', async () => {
    const name = 'a'.repeat(22)
    expect((await relay.register(name)).canonical_hostname.split('.')[0]).toHaveLength(63)
  })

  test.each([
    ['a ttl of 601 s', { ttl: 601 }, 400, 'invalid_request'],
    ['a ttl that is text', { ttl: '120' }, 400, 'invalid_request'],
    ['UDP', { udp_enabled: true }, 403, 'udp_disabled'],
    ['TCP', { tcp_enabled: true }, 403, 'tcp_port_disabled'],
    ['cache with TCP', { tcp_enabled: true, cache: true }, 400, 'invalid_request'],
    ['a cache_ttl below zero', { cache: true, cache_ttl: -1 }, 400, 'invalid_request'],
    ['a cache_ttl of half a second', { cache: true, cache_ttl: 0.5 }, 400, 'invalid_request'],
    ['a cache_ttl that is text', { cache: true, cache_ttl: '60' }, 400, 'invalid_request'],
    ['a long description', { metadata: { description: 'x'.repeat(4097) } }, 400, 'invalid_request'],
    [
      'a long thumbnail',
      { metadata: { thumbnail: `data:,${'x'.repeat(256 * 1024)}` } },
      400,
      'invalid_request',
    ],
    [
      'a thumbnail that is a script',
      { metadata: { thumbnail: 'javascript:alert(1)' } },
      400,
      'invalid_request',
    ],
    ['a thumbnail that is no URL', { metadata: { thumbnail: '/a.png' } }, 400, 'invalid_request'],
    ['a long owner', { metadata: { owner: 'x'.repeat(1025) } }, 400, 'invalid_request'],
    ['a long tag', { metadata: { tags: ['x'.repeat(65)] } }, 400, 'invalid_request'],
    ['tags that are no list', { metadata: { tags: 'a' } }, 400, 'invalid_request'],
    ['hide that is no boolean', { metadata: { hide: 1 } }, 400, 'invalid_request'],
    ['17 tags', { metadata: { tags: Array(17).fill('t') } }, 400, 'invalid_request'],
  ])('%s is refused', async (_name, fields, status, code) => {
    expect(await challenge({ identity: identity('fine'), ...fields })).toMatchObject({
      status,
      json: { error: { code } },
    })
  })

  test('metadata as long as it may be is kept whole, through registration and renewal (protocol §4.6.1, §4.6.2, §4.6.3)', async () => {
    const metadata = {
      description: '\u6f22'.repeat(4096),
      owner: '\u{1f600}'.repeat(512),
      thumbnail: `data:image/png;base64,${'A'.repeat(256 * 1024 - 22)}`,
      tags: Array.from({ length: 16 }, (_, i) => `${i}`.padEnd(64, '\u00e9')),
    }
    // It takes a page of its own.
    const shown = async () => {
      for (let after: string | undefined = ''; after !== undefined; ) {
        const { data } = (await relay.call('GET', `/api/state?after=${after}`)).json as {
          data: { leases: { name: string }[]; next?: string }
        }
        const lease = data.leases.find(({ name }) => name === 'pictured')
        if (lease !== undefined) return lease
        after = data.next
      }
      return undefined
    }
    const { access_token } = await relay.register('pictured', { metadata })
    expect(await shown()).toMatchObject({ metadata })
    const other = { ...metadata, description: metadata.description.toUpperCase(), hide: false }
    expect(await relay.call('POST', '/sdk/renew', { access_token, metadata: other })).toMatchObject({
      status: 200,
    })
    expect(await shown()).toMatchObject({ metadata: other })
    await relay.call('POST', '/sdk/unregister', { access_token })
  })

  test('cache_ttl: 0 is what the relay likes, and more than any relay can allow is cut', async () => {
    const parse = (cache_ttl: number) =>
      registerChallengeRequest.parse({ identity: identity('fine'), cache_ttl }).cache_ttl
    expect([0, 60, 86_401, 1e9, 2 ** 60, 1e300].map(parse)).toEqual([
      0, 60, 86_401, 999_999_999, 999_999_999, 999_999_999,
    ])
    for (const cache_ttl of [0, 1e300])
      expect(await challenge({ identity: identity('fine'), cache: true, cache_ttl })).toMatchObject({
        status: 201,
      })
  })

  test('ttl: none or non-positive means 120 s', async () => {
    const account = newAccount()
    for (const ttl of [undefined, 0, -5]) {
      const lease = await relay.register('ttl', { account, ttl })
      expect(Math.round((Date.parse(lease.expires_at) - Date.now()) / 1000)).toBe(120)
      await relay.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    }
  })

  test('a signature by somebody else, or over something else, proves nothing', async () => {
    const account = newAccount()
    const wrong: [string, (message: string) => Promise<{ siwe_message: string; siwe_signature: string }>][] =
      [
        [
          'another key',
          async (message) => ({
            siwe_message: message,
            siwe_signature: await newAccount().signMessage({ message }),
          }),
        ],
        [
          'another message',
          async (message) => ({
            siwe_message: `${message} `,
            siwe_signature: await account.signMessage({ message: `${message} ` }),
          }),
        ],
        ['no signature', async (message) => ({ siwe_message: message, siwe_signature: '0x' })],
        ['zeros', async (message) => ({ siwe_message: message, siwe_signature: `0x${'0'.repeat(130)}` })],
      ]
    for (const [, forge] of wrong) {
      const { challenge_id, siwe_message } = await openChallenge('proof', account)
      const body = { challenge_id, ...(await forge(siwe_message)) }
      expect(await relay.call('POST', '/sdk/register', body)).toMatchObject({
        status: 403,
        json: { error: { code: 'unauthorized' } },
      })
    }
  })

  test('a challenge is used once, also when the proof was wrong; an unknown one is refused (protocol §4.3.1, §4.4.1)', async () => {
    const account = newAccount()
    const { challenge_id, siwe_message } = await openChallenge('once', account)
    const good = {
      challenge_id,
      siwe_message,
      siwe_signature: await account.signMessage({ message: siwe_message }),
    }
    expect(await relay.call('POST', '/sdk/register', { ...good, siwe_signature: '0x' })).toMatchObject({
      status: 403,
    })
    expect(await relay.call('POST', '/sdk/register', good)).toMatchObject({ status: 403 })
    const unknown = { ...good, challenge_id: 'rch_0000000000000000' }
    expect(await relay.call('POST', '/sdk/register', unknown)).toMatchObject({ status: 403 })
  })

  test('a taken friendly name: conflict, or canonical only (protocol §4.4.4)', async () => {
    await relay.register('taken')
    await expect(relay.register('taken')).rejects.toThrow(/hostname_conflict/)
    const second = await relay.register('taken', { allow_canonical_fallback: true })
    expect(second).toMatchObject({
      hostname: '',
      canonical_hostname: expect.stringMatching(/^taken-[0-9a-f]{40}\./),
    })
  })
})

describe('a registered lease', () => {
  const post = (path: string, body: unknown) => relay.call('POST', path, body)

  test('is renewed with fresh credentials; a ttl over 600 leaves it as it was', async () => {
    const lease = await relay.register('renewed')
    const renewed = await post('/sdk/renew', { access_token: lease.access_token, ttl: 600 })
    const data = renewed.json.data as unknown as RegisterResponse
    expect(renewed.status).toBe(200)
    expect(Date.parse(data.expires_at) - Date.parse(lease.expires_at)).toBeGreaterThan(470_000)
    const refused = await post('/sdk/renew', { access_token: data.access_token, ttl: 601 })
    expect(refused).toMatchObject({ status: 400, json: { error: { code: 'invalid_request' } } })
    const rotated = await post('/sdk/reverse', { access_token: data.access_token })
    expect(rotated.json.data).toMatchObject({
      url: `${relay.origin}/sdk/connect`,
      expires_at: data.expires_at,
    })
  })

  test('is gone after unregister, and its tokens with it', async () => {
    const { access_token } = await relay.register('gone')
    expect(await post('/sdk/unregister', { access_token })).toMatchObject({
      status: 200,
      json: { ok: true, data: {} },
    })
    for (const path of ['/sdk/renew', '/sdk/reverse', '/sdk/unregister'])
      expect(await post(path, { access_token })).toMatchObject({
        status: 404,
        json: { error: { code: 'lease_not_found' } },
      })
  })

  test('does not take its capability for its token (protocol §5.1.3)', async () => {
    const lease = await relay.register('kinds')
    for (const path of ['/sdk/renew', '/sdk/reverse', '/sdk/unregister'])
      expect(await post(path, { access_token: lease.reverse_endpoint.capability })).toMatchObject({
        status: 403,
        json: { error: { code: 'unauthorized' } },
      })
  })
})

describe('bodies', () => {
  test.each(['', '{', '{"a":}', '\xff', '[1,2'])('%j is invalid_json', async (body) => {
    expect(await challenge(body)).toMatchObject({ status: 400, json: { error: { code: 'invalid_json' } } })
  })

  test.each(['null', '[]', '1', '"text"', '{}', '{"identity":[]}', `${'['.repeat(5000)}${']'.repeat(5000)}`])(
    '%s is invalid_request',
    async (body) => {
      expect(await challenge(body)).toMatchObject({
        status: 400,
        json: { error: { code: 'invalid_request' } },
      })
    },
  )

  test('more than a body may have is refused, by an answer that arrives', async () => {
    const name = 'x'.repeat(900 * 1024)
    expect(await challenge({ identity: { name } })).toMatchObject({
      status: 400,
      headers: { connection: 'close' },
      json: { error: { code: 'invalid_request', message: 'the body is larger than 393216 bytes' } },
    })
    expect(await relay.call('GET', '/api/healthz')).toMatchObject({ status: 200 })
  })
})
