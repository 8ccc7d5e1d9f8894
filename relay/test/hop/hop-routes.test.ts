// Hop routes at a real relay, as a hostile peer or owner brings them: every field, times, replays, and crowds.

import { createHash, randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import {
  HEADER,
  HOP_RELAYS_MAX,
  HOP_ROUTES_PER_OWNER_MAX,
  HOP_UPGRADE,
  type HopRoute,
  identityKey,
  NEIGHBOUR_UPGRADE,
} from '@svc/protocol'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hopRouteSigner } from '../../../sdk-node/src/hops/sign-hop-route.ts'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { NEIGHBOUR_CONNECTIONS } from '../../src/features/overlay/hop/limits.ts'
import { OVERLAY_LIMITS } from '../../src/features/overlay/limits.ts'
import { type OverlayMember, type OverlayRelays, startOverlayRelays } from '../support/overlay-relays.ts'
import { PROXY_TCP4, proxyHeader, tcp4 } from '../support/proxy-header.ts'
import { ROOT_HOST, startTestRelay } from '../support/relay.ts'

const PATIENT_MS = 120_000
const ADMIN_TOKEN = randomBytes(16).toString('hex')

vi.mock('node:dns', async (original) => {
  const { lookupLocal } = await import('../support/local-names.ts')
  return { ...(await original<object>()), lookup: lookupLocal }
})

const VISITORS_MAX = 2
const PEER_BURST = 600
const limits = {
  overlay: {
    hopVisitors: { max: 64, perHolder: VISITORS_MAX, perHolderWhenHalfFull: VISITORS_MAX },
    hopVisitorsPerNetwork: 1,
    // The relation to the share of an owner is that of the real ones, for fewer requests.
    hopChangesPerPeer: { perMinute: 1_200, burst: PEER_BURST },
  },
}

type Terms = Omit<HopRoute, 'owner_public_key' | 'signature'>

interface Owner {
  key: Uint8Array
  hostname: string
  canonical: string
  token: string
}

let group: OverlayRelays
/** Changes that all peers and owners have asked for. */
let changes = 0
/** Keeps few connections for many requests. */
const kept = new Agent({ keepAlive: true, maxSockets: 8 })
let here: OverlayMember
let peer: OverlayMember
let stranger: OverlayMember
let owner: Owner

beforeAll(async () => {
  const env = { ADMIN_TOKEN, TRUSTED_PROXIES: '127.61.2.0/24' }
  const hosts = ['here.localhost', 'peer.localhost', 'stranger.localhost']
  group = await startOverlayRelays('61.2', hosts, env, limits)
  ;[here, peer, stranger] = group.members as [OverlayMember, OverlayMember, OverlayMember]
  await group.known()
  owner = await newOwner('demo')
})

afterAll(async () => {
  kept.destroy()
  await group?.close()
})

async function newOwner(name: string, at: OverlayMember = here): Promise<Owner> {
  const key = new Uint8Array(randomBytes(32))
  const account = privateKeyToAccount(`0x${Buffer.from(key).toString('hex')}`)
  const lease = await at.register(name, { account, ttl: 600 })
  return { key, hostname: lease.hostname, canonical: lease.canonical_hostname, token: lease.access_token }
}

function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

function inSeconds(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toISOString()
}

/** A route of the first relay for the owner's friendly hostname. */
function terms(more: Partial<Terms> = {}, of: Owner = owner): Terms {
  const hostname = more.public_hostname || of.hostname
  return {
    relay_url: here.origin,
    public_hostname: of.hostname,
    route_hostname: of.canonical,
    hostname_hash: createHash('sha256').update(hostname).digest('hex'),
    match_token: '',
    metadata: {},
    forward_relay: peer.origin,
    forward_token: randomToken(),
    first_seen_at: inSeconds(0),
    expires_at: inSeconds(300),
    ...more,
  }
}

function signed(
  more: Partial<Terms> = {},
  { of = owner, method = 'POST' as 'POST' | 'DELETE' } = {},
): HopRoute {
  return hopRouteSigner(of.key)(method, terms(more, of))
}

interface Answer {
  status: number
  code: string | undefined
}

/** Sends a route to the relay from the overlay address of another one. */
async function bring(
  body: unknown,
  {
    method = 'POST',
    from = peer,
    to = here,
  }: { method?: string; from?: OverlayMember; to?: OverlayMember } = {},
): Promise<Answer> {
  const { overlayAddress: host, overlayPort: port } = to
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  changes += 1
  const asked = httpRequest({
    host,
    port,
    method,
    path: '/sdk/hop',
    localAddress: from.overlayAddress,
    agent: kept,
    headers: { 'Content-Length': `${Buffer.byteLength(text)}` },
  })
  asked.end(text)
  const [answer] = await once(asked, 'response')
  let answered = ''
  for await (const chunk of answer) answered += chunk
  return { status: answer.statusCode, code: JSON.parse(answered).error?.code }
}

const TAKEN: Answer = { status: 200, code: undefined }
const MALFORMED: Answer = { status: 400, code: 'invalid_request' }
const FORGED: Answer = { status: 403, code: 'unauthorized' }
const NO_LEASE: Answer = { status: 404, code: 'lease_not_found' }

test('a route that its owner signed is taken from its next relay, again, and removed', async () => {
  const route = signed()
  expect(await bring(route)).toEqual(TAKEN)
  expect(await bring(route)).toEqual(TAKEN)
  const later = { forward_token: route.forward_token, expires_at: inSeconds(301) }
  expect(await bring(signed(later))).toEqual(TAKEN)
  const removal = signed({ ...later, expires_at: inSeconds(302) }, { method: 'DELETE' })
  expect(await bring(removal, { method: 'DELETE' })).toEqual(TAKEN)
})

describe('refused is', () => {
  const CHANGES: Partial<HopRoute> = {
    owner_public_key: '031b84c5567b126440995d3ed5aaba0565d71e1834604819ff9c17f5e9d5dd078f',
    relay_url: 'https://another.localhost',
    public_hostname: 'another.here.localhost',
    route_hostname: 'another.here.localhost',
    hostname_hash: 'ab'.repeat(32),
    match_token: 'A'.repeat(43),
    metadata: { description: 'x' },
    forward_relay: 'https://another.localhost',
    forward_token: 'A'.repeat(43),
    first_seen_at: '2026-01-01T00:00:00Z',
    expires_at: '2100-01-01T00:00:00Z',
    signature: `3006020101020101`,
  }

  test.each(Object.keys(CHANGES))('a route whose %s was changed', async (name) => {
    const changed = { ...signed({ expires_at: inSeconds(310) }), [name]: CHANGES[name as keyof HopRoute] }
    expect([MALFORMED, FORGED]).toContainEqual(await bring(changed))
  })

  test('a route that was signed for the other method', async () => {
    expect(await bring(signed({}, { method: 'DELETE' }))).toEqual(FORGED)
    expect(await bring(signed(), { method: 'DELETE' })).toEqual(FORGED)
  })

  test('a route that has ended, or ends too late (protocol §18.2.4)', async () => {
    expect(await bring(signed({ expires_at: inSeconds(-1), first_seen_at: inSeconds(-2) }))).toEqual(
      MALFORMED,
    )
    expect(await bring(signed({ expires_at: inSeconds(700) }))).toEqual(MALFORMED)
    expect(await bring(signed({ first_seen_at: inSeconds(301) }))).toEqual(MALFORMED)
  })

  test('a route for another relay (protocol §18.2.3)', async () => {
    expect(await bring(signed({ relay_url: stranger.origin }))).toEqual(MALFORMED)
    // The same bytes, which are good here, at another relay.
    expect(await bring(signed({ expires_at: inSeconds(311) }), { to: stranger })).toEqual(MALFORMED)
  })

  test('a route that another peer than its next relay brings (protocol §18.2.3)', async () => {
    expect(await bring(signed(), { from: stranger })).toEqual(FORGED)
  })

  test('a route without a lease of its owner', async () => {
    const other = await newOwner('other')
    expect(await bring(signed({ route_hostname: other.canonical }))).toEqual(NO_LEASE)
    expect(await bring(signed({ route_hostname: owner.hostname }))).toEqual(NO_LEASE)
    expect(await bring(signed({ public_hostname: other.hostname }))).toEqual(MALFORMED)
    expect(await bring(signed({ hostname_hash: '00'.repeat(32) }))).toEqual(MALFORMED)
  })

  test('an older signature, after a later one and after the removal (protocol §18.2.4)', async () => {
    const at = { public_hostname: owner.canonical, expires_at: inSeconds(200) }
    const [old, newer] = [signed(at), signed({ ...at, expires_at: inSeconds(210) })]
    expect(await bring(newer)).toEqual(TAKEN)
    expect(await bring(old)).toEqual(MALFORMED)
    const early = signed({ ...at, expires_at: inSeconds(205) }, { method: 'DELETE' })
    expect(await bring(early, { method: 'DELETE' })).toEqual(MALFORMED)
    const removal = signed({ ...at, expires_at: inSeconds(220) }, { method: 'DELETE' })
    expect(await bring(removal, { method: 'DELETE' })).toEqual(TAKEN)
    expect(await bring(newer)).toEqual(MALFORMED)
    expect(await bring(signed({ ...at, expires_at: inSeconds(230) }))).toEqual(TAKEN)
  })

  test('a route of a lease that was replaced, when it is replayed', async () => {
    const key = new Uint8Array(randomBytes(32))
    const account = privateKeyToAccount(`0x${Buffer.from(key).toString('hex')}`)
    const lease = await here.register('again', { account })
    const of = { key, hostname: lease.hostname, canonical: lease.canonical_hostname, token: '' }
    const route = signed({}, { of })
    expect(await bring(route)).toEqual(TAKEN)
    await here.register('again', { account })
    expect(await bring(route)).toEqual(MALFORMED)
    expect(await bring(signed({ expires_at: inSeconds(301) }, { of }))).toEqual(TAKEN)
  })

  test('what is no route', async () => {
    expect(await bring('{')).toEqual({ status: 400, code: 'invalid_json' })
    expect(await bring('[]')).toEqual(MALFORMED)
    expect(await bring('')).toEqual({ status: 400, code: 'invalid_json' })
    expect((await bring(`"${'x'.repeat(20_000)}"`)).status).toBe(400)
    expect(await bring({}, { method: 'PUT' })).toEqual({ status: 405, code: 'method_not_allowed' })
  })

  test('a route at the public port, where the path is nobody’s', async () => {
    const { status } = await here.call('POST', '/sdk/hop', signed())
    expect(status).not.toBe(200)
  })
})

test('an owner has so many routes, and others theirs (protocol §18.2.5)', async () => {
  const crowd = await newOwner('crowd')
  const later = (): HopRoute => signed({ public_hostname: '', match_token: randomToken() }, { of: crowd })
  const answers = []
  for (let count = 0; count < HOP_ROUTES_PER_OWNER_MAX + 3; count++) answers.push(await bring(later()))
  expect(answers.slice(0, HOP_ROUTES_PER_OWNER_MAX)).toEqual(Array(HOP_ROUTES_PER_OWNER_MAX).fill(TAKEN))
  expect(answers.slice(HOP_ROUTES_PER_OWNER_MAX)).toEqual(
    Array(3).fill({ status: 429, code: 'rate_limited' }),
  )
  expect(await bring(signed({ expires_at: inSeconds(320) }))).toEqual(TAKEN)
})

test('an owner without a lease here leaves the others behind its relay their share', async () => {
  const stray = await newOwner('stray', stranger)
  const body = JSON.stringify(signed({}, { of: stray }))
  // Owners share counters, by a key of chance: once in thousands of runs the stray one shares with the crowd of the last test.
  const mayBeCharged = changes
  const answers = await Promise.all(
    Array.from({ length: OVERLAY_LIMITS.hopChangesPerOwner.burst + 100 }, () => bring(body)),
  )
  const refused = answers.filter(({ status }) => status === 429)
  expect(answers.filter(({ status }) => status === 404).length).toBeGreaterThanOrEqual(
    OVERLAY_LIMITS.hopChangesPerOwner.burst - mayBeCharged,
  )
  expect(refused.length).toBeGreaterThan(0)
  expect(PEER_BURST).toBeGreaterThan(answers.length)
  expect(await bring(signed({ expires_at: inSeconds(330) }))).toEqual(TAKEN)
})

test('a peer that brings routes by the thousand is refused, and others are not', async () => {
  const answers = await Promise.all(
    Array.from({ length: PEER_BURST + 200 }, () => bring({}, { from: stranger })),
  )
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.length).toBeLessThan(201)
  expect(await bring(signed({ expires_at: inSeconds(340) }))).toEqual(TAKEN)
})

describe('POST /sdk/route', () => {
  const hand = async (
    body: unknown,
    { at = peer, token = '' }: { at?: OverlayMember; token?: string } = {},
  ): Promise<Answer> => {
    const { status, json } = await at.call('POST', '/sdk/route', body, { [HEADER.accessToken]: token })
    return { status, code: (json.error as { code?: string } | undefined)?.code }
  }

  test('brings a route to its relay, and tells what that says (protocol §18.2.2, §18.2.6)', async () => {
    const key = new Uint8Array(randomBytes(32))
    const account = privateKeyToAccount(`0x${Buffer.from(key).toString('hex')}`)
    const lease = await here.register('handed', { account })
    const { access_token: token } = await peer.register('handed', { account })
    const of = { key, hostname: lease.hostname, canonical: lease.canonical_hostname, token }
    const route = signed({}, { of })
    expect(await hand({ method: 'POST', route }, { token })).toEqual(TAKEN)
    const removal = signed(
      { forward_token: route.forward_token, expires_at: inSeconds(301) },
      { of, method: 'DELETE' },
    )
    expect(await hand({ method: 'DELETE', route: removal }, { token })).toEqual(TAKEN)
    expect(await hand({ method: 'POST', route }, { token })).toEqual(MALFORMED)
    const unknown = signed({ route_hostname: owner.canonical }, { of })
    expect(await hand({ method: 'POST', route: unknown }, { token })).toEqual(NO_LEASE)
    const nowhere = signed({ relay_url: 'https://nowhere.localhost' }, { of })
    expect(await hand({ method: 'POST', route: nowhere }, { token })).toEqual({
      status: 503,
      code: 'feature_unavailable',
    })
    expect(await hand({ method: 'POST', route: signed() }, { token })).toEqual(FORGED)
    expect(await hand({ method: 'PUT', route }, { token })).toEqual(MALFORMED)
    expect(await hand({ method: 'POST', route })).toEqual(FORGED)
    expect(
      await hand({ method: 'POST', route: signed({}, { of }) }, { at: here, token: lease.access_token }),
    ).toEqual(MALFORMED)
  })

  test('takes so many of one lease', async () => {
    const of = await newOwner('hasty', peer)
    const route = signed({}, { of })
    const answers: Answer[] = []
    while (answers.length < 200 && answers.at(-1)?.status !== 429)
      answers.push(await hand({ method: 'POST', route }, { token: of.token }))
    expect(answers.length).toBeGreaterThan(30)
    expect(answers.at(-1)).toEqual({ status: 429, code: 'rate_limited' })
  })

  test('is not there on a relay without an overlay', async () => {
    const alone = await startTestRelay()
    try {
      const { access_token: token } = await alone.register('demo')
      const { status, json } = await alone.call('POST', '/sdk/route', {}, { [HEADER.accessToken]: token })
      expect([status, (json.error as { code?: string }).code]).toEqual([503, 'feature_unavailable'])
      expect(alone.origin).toContain(ROOT_HOST)
    } finally {
      await alone.close()
    }
  })
})

describe('a visitor who is passed on', () => {
  const ask = (fields: Record<string, string>): Socket => {
    const { overlayAddress: host, overlayPort: port } = here
    const socket = connect({ host, port, localAddress: peer.overlayAddress })
    const lines = Object.entries({ Host: host, Connection: 'Upgrade', Upgrade: HOP_UPGRADE, ...fields })
    socket.on('error', () => {})
    socket.write(
      `GET /sdk/hop HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    )
    return socket
  }
  /** @returns the first line of the answer; an empty one when the connection was closed */
  const pass = async (fields: Record<string, string>): Promise<string> => {
    const socket = ask(fields)
    let text = ''
    for await (const chunk of socket.setEncoding('latin1')) {
      text += chunk
      if (text.includes('\r\n\r\n')) break
    }
    socket.destroy()
    return text.split('\r\n')[0]!
  }
  const hash = (hostname: string): string => createHash('sha256').update(hostname).digest('hex')

  test('needs the token of a route, its hostname, a binding and a number of relays (protocol §18.3.1, §18.3.2)', async () => {
    const token = randomToken()
    expect(await bring(signed({ public_hostname: '', match_token: token }))).toEqual(TAKEN)
    const fields = {
      [HEADER.hopToken]: token,
      [HEADER.hopHostname]: hash(owner.hostname),
      [HEADER.hopBinding]: 'ab'.repeat(16),
      [HEADER.hopCount]: '1',
    }
    expect(await pass(fields)).toContain(' 101 ')
    expect(await pass({ ...fields, [HEADER.hopToken]: randomToken() })).toContain(' 403 ')
    expect(await pass({ ...fields, [HEADER.hopToken]: '' })).toContain(' 403 ')
    expect(await pass({ ...fields, [HEADER.hopHostname]: hash('another.localhost') })).toContain(' 403 ')
    expect(await pass({ ...fields, [HEADER.hopBinding]: 'ab' })).toContain(' 400 ')
    expect(await pass({ ...fields, [HEADER.hopCount]: `${HOP_RELAYS_MAX}` })).toContain(' 400 ')
    expect(await pass({ ...fields, [HEADER.hopCount]: '0' })).toContain(' 400 ')
    expect(await pass({ ...fields, [HEADER.hopCount]: '1e0' })).toContain(' 400 ')
  })

  test('has no way in by the hostname of a first relay', async () => {
    expect(await bring(signed({ expires_at: inSeconds(350) }))).toEqual(TAKEN)
    const fields = {
      [HEADER.hopToken]: owner.hostname,
      [HEADER.hopHostname]: hash(owner.hostname),
      [HEADER.hopBinding]: 'ab'.repeat(16),
      [HEADER.hopCount]: '1',
    }
    expect(await pass(fields)).toContain(' 403 ')
  })

  test('is refused beyond as many as one lease may have', async () => {
    const key = new Uint8Array(randomBytes(32))
    const account = privateKeyToAccount(`0x${Buffer.from(key).toString('hex')}`)
    const lease = await here.register('full', { account })
    const { access_token: token } = await peer.register('full', { account })
    const of = { key, hostname: lease.hostname, canonical: lease.canonical_hostname, token }
    const match_token = randomToken()
    const hashed = { public_hostname: '', hostname_hash: hash(of.hostname) }
    const body = { method: 'POST', route: signed({ ...hashed, match_token }, { of }) }
    const handed = await peer.call('POST', '/sdk/route', body, { [HEADER.accessToken]: token })
    expect(handed.status).toBe(200)
    const fields = {
      [HEADER.hopToken]: match_token,
      [HEADER.hopHostname]: hash(of.hostname),
      [HEADER.hopBinding]: 'ab'.repeat(16),
      [HEADER.hopCount]: '1',
    }
    // The next relay waits for their ClientHello.
    const open: Socket[] = []
    for (let count = 0; count < VISITORS_MAX; count++) {
      const socket = ask(fields)
      open.push(socket)
      expect(`${(await once(socket, 'data'))[0]}`).toContain(' 101 ')
    }
    expect(await pass(fields)).toContain(' 503 ')
    for (const socket of open) socket.destroy()
    await vi.waitFor(async () => expect(await pass(fields)).toContain(' 101 '), { timeout: PATIENT_MS })
  })
})

test('a lease that the operator banned has no routes any more, and brings none (protocol §18.3.4)', async () => {
  const bearer = { Authorization: `Bearer ${ADMIN_TOKEN}` }
  const ban = async (at: OverlayMember, address: string, is_banned: boolean): Promise<void> => {
    const update = { identity_key: identityKey('banned', address), is_banned }
    expect((await at.call('POST', '/api/policy/leases', update, bearer)).status).toBe(200)
  }
  const key = new Uint8Array(randomBytes(32))
  const account = privateKeyToAccount(`0x${Buffer.from(key).toString('hex')}`)
  const lease = await here.register('banned', { account })
  const { access_token: token } = await peer.register('banned', { account })
  const of = { key, hostname: lease.hostname, canonical: lease.canonical_hostname, token }
  const route = signed({}, { of })
  expect(await bring(route)).toEqual(TAKEN)
  await ban(here, account.address, true)
  expect(await bring(signed({ expires_at: inSeconds(310) }, { of }))).toEqual({
    status: 403,
    code: 'lease_rejected',
  })
  await ban(here, account.address, false)
  // The ban ended the route, so that its signature is worth nothing more.
  expect(await bring(route)).toEqual(MALFORMED)
  await ban(peer, account.address, true)
  const body = { method: 'POST', route: signed({ expires_at: inSeconds(320) }, { of }) }
  const { json } = await peer.call('POST', '/sdk/route', body, { [HEADER.accessToken]: token })
  expect((json.error as { code?: string }).code).toBe('lease_rejected')
})

test('a client address that the operator banned hands over no route, and has no way to a neighbour', async () => {
  const bearer = { Authorization: `Bearer ${ADMIN_TOKEN}` }
  const of = await newOwner('exiled', peer)
  const ban = (is_banned: boolean) =>
    peer.call('POST', '/api/policy/ips', { ip: '127.61.9.7', is_banned }, bearer)
  expect((await ban(true)).status).toBe(200)
  const ask = async (fields: Record<string, string>, method: string, path: string): Promise<string> => {
    const { port } = new URL(peer.origin)
    const raw = connect({ host: '127.0.0.1', port: Number(port), localAddress: '127.61.9.7' })
    const socket = connectTls({ socket: raw, servername: peer.host, ca: peer.ca })
    const headers = { Host: `${peer.host}:${port}`, [HEADER.accessToken]: of.token, ...fields }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
    let text = ''
    for await (const chunk of socket) {
      text += chunk
      if (text.includes('}')) break
    }
    return text
  }
  const upgrade = { Connection: 'Upgrade', Upgrade: NEIGHBOUR_UPGRADE, [HEADER.neighbour]: here.origin }
  expect(await ask(upgrade, 'GET', '/sdk/route/relay')).toContain('ip_banned')
  expect(await ask({ 'Content-Length': '2' }, 'POST', '/sdk/route')).toContain('ip_banned')
})

describe('a visitor at the first relay', () => {
  /** Resolves with a visitor whose ClientHello is on its way, and with what comes of it: the TLS alert. */
  const visit = async (hostname: string, localAddress: string): Promise<[Socket, Promise<unknown[]>]> => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(here.origin).port), localAddress })
    await once(socket, 'connect')
    const visitor = connectTls({ socket, servername: hostname })
    visitor.on('error', () => {})
    return [socket, new Promise((resolve) => visitor.once('error', (error) => resolve([error])))]
  }

  test('has no more of the room of a site than its network may have', async () => {
    const key = new Uint8Array(randomBytes(32))
    const account = privateKeyToAccount(`0x${Buffer.from(key).toString('hex')}`)
    const lease = await here.register('shared', { account })
    const { access_token: token } = await peer.register('shared', { account })
    const of = { key, hostname: lease.hostname, canonical: lease.canonical_hostname, token }
    const body = { method: 'POST', route: signed({}, { of }) }
    expect((await peer.call('POST', '/sdk/route', body, { [HEADER.accessToken]: token })).status).toBe(200)
    // No session is there, so each visitor waits for one.
    const [first] = await visit(of.hostname, '127.0.0.1')
    const [, refused] = await visit(of.hostname, '127.0.0.1')
    await refused
    const [other] = await visit(of.hostname, '127.61.9.9')
    const [, refusedAgain] = await visit(of.hostname, '127.0.0.1')
    await refusedAgain
    expect([first.closed, other.closed]).toEqual([false, false])
    first.destroy()
    other.destroy()
  })
})

describe('the overlay (protocol §17.1.4)', () => {
  test.each([
    ['POST', '/sdk/register/challenge'],
    ['POST', '/sdk/register'],
    ['POST', '/sdk/renew'],
    ['POST', '/sdk/unregister'],
    ['POST', '/v1/sign'],
    ['GET', '/sdk/connect'],
    ['GET', '/sdk/domain'],
  ])('has no %s %s', async (method, path) => {
    const { overlayAddress: host, overlayPort: port } = here
    const asked = httpRequest({ host, port, method, path, localAddress: peer.overlayAddress, agent: kept })
    asked.end()
    const [answer] = await once(asked, 'response')
    answer.resume()
    expect(answer.statusCode).toBe(404)
  })

  test('carries no TLS of a visitor', async () => {
    const { overlayAddress: host, overlayPort: port } = here
    const socket = connect({ host, port, localAddress: peer.overlayAddress })
    socket.write(await captureHello(owner.hostname))
    let text = ''
    for await (const chunk of socket.setEncoding('latin1')) text += chunk
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('has no UDP', async () => {
    const socket = createSocket('udp4')
    // The relay has not taken the port, so that a test may.
    socket.bind(here.overlayPort, here.overlayAddress)
    await once(socket, 'listening')
    socket.close()
  })

  // It waits for 10 s.
  wholeOnly(test, 'clock')(
    'whose next relay is silent fails its visitors after 10 s, and nothing else (protocol §18.3.5)',
    async () => {
      const of = await newOwner('silent')
      const route = signed({ forward_relay: stranger.origin }, { of })
      expect(await bring(route, { from: stranger })).toEqual(TAKEN)
      await stranger.stop()
      const held: Socket[] = []
      const silent = createServer((socket) => void held.push(socket))
      await once(silent.listen(stranger.overlayPort, stranger.overlayAddress), 'listening')
      const from = performance.now()
      const visitor = connectTls({
        socket: connect({ host: '127.0.0.1', port: Number(new URL(here.origin).port) }),
        servername: of.hostname,
      })
      const failed = once(visitor, 'secureConnect')
      await once(silent, 'connection')
      // The relay itself goes on meanwhile.
      await newOwner('beside')
      await expect(failed).rejects.toMatchObject({ code: expect.stringContaining('INTERNAL_ERROR') })
      expect(performance.now() - from).toBeGreaterThan(9_500)
      expect(performance.now() - from).toBeLessThan(15_000)
      for (const socket of held) socket.destroy()
      silent.close()
      await stranger.start()
    },
  )
})

test('a connection that a peer brings has passed three relays at most, and is no proxy (protocol §18.4.2)', async () => {
  const of = await newOwner('nested')
  const { overlayAddress: host, overlayPort: port } = here
  const open = async (count: string): Promise<[Socket, string]> => {
    const socket = connect({ host, port, localAddress: peer.overlayAddress })
    const fields = { Host: host, Connection: 'Upgrade', Upgrade: NEIGHBOUR_UPGRADE, [HEADER.hopCount]: count }
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`GET /sdk/route/relay HTTP/1.1\r\n${lines.join('')}\r\n`)
    return [socket, `${(await once(socket, 'data'))[0]}`]
  }
  /** Asks for a neighbour, inside a connection that has passed this many relays. */
  const onward = async (count: string): Promise<string> => {
    const [socket, head] = await open(count)
    expect(head).toContain(' 101 ')
    const inner = connectTls({ socket, servername: here.host, ca: here.ca })
    const fields = {
      Host: new URL(here.origin).host,
      Connection: 'Upgrade',
      Upgrade: NEIGHBOUR_UPGRADE,
      [HEADER.accessToken]: of.token,
      [HEADER.neighbour]: peer.origin,
      // The relay trusts the network of the overlay, and still takes the client address from the connection.
      Forwarded: 'for=127.61.9.7',
    }
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    inner.write(`GET /sdk/route/relay HTTP/1.1\r\n${lines.join('')}\r\n`)
    const [answer] = await once(inner, 'data')
    inner.destroy()
    return `${answer}`
  }
  const bearer = { Authorization: `Bearer ${ADMIN_TOKEN}` }
  await here.call('POST', '/api/policy/ips', { ip: '127.61.9.7', is_banned: true }, bearer)
  expect(await onward('1')).toContain(' 101 ')
  expect(await onward('2')).toContain(' 101 ')
  expect(await onward('3')).toContain(' 400 ')
  for (const count of [`${HOP_RELAYS_MAX}`, '0', '1e0', '']) expect((await open(count))[1]).toContain(' 400 ')
  // A PROXY header is no TLS record there.
  const [socket] = await open('1')
  socket.write(proxyHeader(PROXY_TCP4, tcp4('192.0.2.1')))
  const inner = connectTls({ socket, servername: here.host, ca: here.ca })
  await expect(once(inner, 'secureConnect')).rejects.toThrow()
})

describe('GET /sdk/route/relay', () => {
  const upgrade = async (
    token: string,
    relay: string,
    more: Record<string, string> = {},
  ): Promise<[Socket, string]> => {
    const socket = here.tls(here.host)
    const fields = { Host: new URL(here.origin).host, Connection: 'Upgrade', Upgrade: NEIGHBOUR_UPGRADE }
    const headers = { ...fields, [HEADER.accessToken]: token, [HEADER.neighbour]: relay, ...more }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`GET /sdk/route/relay HTTP/1.1\r\n${lines.join('')}\r\n`)
    return [socket, `${(await once(socket, 'data'))[0]}`]
  }

  test('leads to the public port of a neighbour, and nowhere else (protocol §18.4.1)', async () => {
    const { token } = await newOwner('through')
    const [socket, head] = await upgrade(token, peer.origin)
    expect(head).toContain(' 101 ')
    const inner = connectTls({ socket, servername: peer.host, ca: peer.ca })
    await once(inner, 'secureConnect')
    inner.write(`GET /sdk/domain HTTP/1.1\r\nHost: ${new URL(peer.origin).host}\r\nConnection: close\r\n\r\n`)
    let text = ''
    for await (const chunk of inner) text += chunk
    expect(text).toContain('"hop_routes"')
    for (const elsewhere of ['https://nowhere.localhost', here.origin, '127.0.0.1:22', ''])
      expect((await upgrade(token, elsewhere))[1]).toContain(' 503 ')
    expect((await upgrade('', peer.origin))[1]).toContain(' 403 ')
    expect((await upgrade(token, peer.origin, { Upgrade: 'raw' }))[1]).toContain(' 400 ')
  })

  test('takes so many of one lease', async () => {
    const { token } = await newOwner('many')
    const open = await Promise.all(
      Array.from({ length: NEIGHBOUR_CONNECTIONS.perHolder }, () => upgrade(token, peer.origin)),
    )
    expect(open.every(([, head]) => head.includes(' 101 '))).toBe(true)
    expect((await upgrade(token, peer.origin))[1]).toContain(' 429 ')
    for (const [socket] of open) socket.destroy()
    const again = async (): Promise<void> => expect((await upgrade(token, peer.origin))[1]).toContain(' 101 ')
    await vi.waitFor(again, { timeout: PATIENT_MS })
  })
})
