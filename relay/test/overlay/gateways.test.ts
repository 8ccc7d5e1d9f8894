// Gateways between real relays, over loopback addresses as the overlay: the whole way of a session, and everything that is refused.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { PATH, type RegisterResponse, type ReverseEndpoint, verifyDescriptor } from '@svc/protocol'
import { afterAll, beforeAll, describe, test as every, expect, vi } from 'vitest'
import { signerOf } from '../../../sdk-core/src/identity/key.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { loadIdentity } from '../../src/core/auth/relay-identity.ts'
import { apiSocket, connectRequest, UPGRADE_HEADERS } from '../support/api-socket.ts'
import { LINKS } from '../support/carrier.ts'
import { type OverlayMember, startOverlayRelays } from '../support/overlay-relays.ts'
import { ROOT_HOST, readAll } from '../support/relay.ts'
import { CARRIERS } from '../support/session.ts'

const test = wholeOnly(every, 'variant')

vi.mock('node:dns', async (original) => {
  const { lookupLocal } = await import('../support/local-names.ts')
  return { ...(await original<object>()), lookup: lookupLocal }
})
const probes = { intervalMs: 200, failedMaxMs: 1_000, tickMs: 50, deadlineMs: 5_000 }
/** All clients of a test have one address. */
const gatewaySourceRate = { perMinute: 1_000_000, burst: 10_000 }
const limits = { discovery: { pollMs: 500 }, overlay: { probes, gatewaySourceRate } }
const PATIENT = { timeout: 60_000, interval: 100 }

let relays: OverlayMember[]
let close: () => Promise<void>
let ingress: OverlayMember
beforeAll(async () => {
  const group = await startOverlayRelays('0.91', [ROOT_HOST, ROOT_HOST, ROOT_HOST], {}, limits)
  ;({ members: relays, close } = group)
  await group.known()
  ingress = relays[0]!
  await vi.waitFor(async () => {
    const { reverse_endpoint } = await ingress.register('first', { overlay: true })
    expect(reverse_endpoint.overlay).toBe(true)
  }, PATIENT)
})
afterAll(() => close?.())

const gatewayOf = ({ url }: Pick<ReverseEndpoint, 'url'>): OverlayMember =>
  relays.find(({ origin }) => url === `${origin}${PATH.connect}`)!

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
}

/** @returns status and code of the refusal at `at` */
async function refusalOf(at: OverlayMember, capability: string): Promise<[number, string]> {
  const socket = await apiSocket(at)
  socket.write(connectRequest(capability, UPGRADE_HEADERS))
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(socket, 'end')
  socket.destroy()
  const [head, body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  return [Number(head!.split(' ')[1]), JSON.parse(body).error?.code]
}

describe('a lease that prefers the overlay', () => {
  test('gets a gateway with its signed descriptor, and a capability for it that ends with the lease (protocol §17.2.1, §17.2.2)', async () => {
    const lease = await ingress.register('preferring', { overlay: true, ttl: 30 })
    const { url, gateway, capability, expires_at, overlay } = lease.reverse_endpoint
    expect(overlay).toBe(true)
    expect(url).toBe(`${gateway!.api_https_addr}${PATH.connect}`)
    expect(gatewayOf(lease.reverse_endpoint)).not.toBe(ingress)
    expect(await verifyDescriptor(gateway, Date.now(), signerOf)).toMatchObject({
      descriptor: { supports_overlay: true },
    })
    const [at, here] = await Promise.all(
      [gatewayOf(lease.reverse_endpoint), ingress].map(({ directory }) => loadIdentity(directory)),
    )
    const claims = claimsOf(capability)
    expect(claims).toMatchObject({
      aud: 'svc-overlay-reverse',
      iss: ingress.origin,
      gateway: at!.address,
      ingress: here!.address,
    })
    expect((claims.exp as number) * 1000).toBeLessThanOrEqual(Date.parse(lease.expires_at))
    expect(expires_at).toBe(lease.expires_at)
  })

  test('is direct when it does not ask', async () => {
    const { reverse_endpoint } = await ingress.register('ordinary')
    expect(reverse_endpoint).toMatchObject({ url: `${ingress.origin}${PATH.connect}`, overlay: false })
    expect(reverse_endpoint).not.toHaveProperty('gateway')
  })

  test('keeps its gateway at each renewal, and as long as that does not fail', async () => {
    const lease = await ingress.register('keeping', { overlay: true })
    for (let times = 0; times < 8; times++) {
      const body = { access_token: lease.access_token }
      const renewed = (await ingress.call('POST', PATH.renew, body)).json.data as RegisterResponse
      expect(renewed.reverse_endpoint.url).toBe(lease.reverse_endpoint.url)
      const looked = (await ingress.call('POST', PATH.reverse, body)).json.data as ReverseEndpoint
      expect(looked.url).toBe(lease.reverse_endpoint.url)
    }
  })

  test('gets another gateway for one that failed, and then the direct endpoint; lease and hostnames stay (protocol §17.2.1)', async () => {
    const lease = await ingress.register('failing', { overlay: true })
    const urls = [lease.reverse_endpoint.url]
    for (let times = 0; times < 3; times++) {
      const body = { access_token: lease.access_token, failed_url: urls.at(-1) }
      const { json } = await ingress.call('POST', PATH.reverse, body)
      urls.push((json.data as ReverseEndpoint).url)
    }
    const direct = `${ingress.origin}${PATH.connect}`
    expect(new Set(urls.slice(0, 2)).size).toBe(2)
    expect(urls.slice(2)).toEqual([direct, direct])
    const { json } = await ingress.call('POST', PATH.renew, { access_token: lease.access_token })
    expect(json.data).toMatchObject({ reverse_endpoint: { overlay: false } })
    const other = `https://elsewhere.example${PATH.connect}`
    const body = { access_token: lease.access_token, failed_url: other }
    expect((await ingress.call('POST', PATH.reverse, body)).json.data).toMatchObject({ url: direct })
  })
})

describe.each(CARRIERS)('a session of %s', (name, open) => {
  test('passes through the gateway both ways, as a direct one (protocol §17.2.5)', async () => {
    const label = `way-${CARRIERS.findIndex(([other]) => other === name)}`
    const lease = await ingress.register(label, { overlay: true })
    const gateway = gatewayOf(lease.reverse_endpoint)
    const session = await open(gateway, lease.reverse_endpoint.capability)
    const visitor = ingress.tls(lease.hostname)
    // Marker, binding, and the visitor's ClientHello.
    expect((await session.read(1))[0]).toBe(2)
    await session.read(16)
    const [type] = await session.read(1)
    expect(type).toBe(22)
    const alert = Buffer.from('15030300020228', 'hex')
    await session.write(alert)
    const [error] = await once(visitor, 'error')
    expect(error.code).toMatch(/HANDSHAKE_FAILURE/)
    session.abort()
  })
})

test('a carrier ends with its lease, and a reset of the visitor reaches the site', async () => {
  const lease = await ingress.register('ending', { overlay: true })
  const [, open] = CARRIERS[2]!
  const session = await open(gatewayOf(lease.reverse_endpoint), lease.reverse_endpoint.capability)
  await ingress.call('POST', PATH.unregister, { access_token: lease.access_token })
  await session.closed
})

describe('a delegated capability is refused', () => {
  let lease: RegisterResponse
  let capability: string
  let gateway: OverlayMember
  let other: OverlayMember
  beforeAll(async () => {
    lease = await ingress.register('guarded', { overlay: true })
    ;({ capability } = lease.reverse_endpoint)
    gateway = gatewayOf(lease.reverse_endpoint)
    other = relays.find((relay) => relay !== gateway && relay !== ingress)!
  })

  function changed(change: (claims: Record<string, unknown>) => void): string {
    const [header, , signature] = capability.split('.')
    const claims = claimsOf(capability)
    change(claims)
    return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.')
  }

  test.each(['iss', 'sub', 'jti', 'iat', 'nbf', 'exp', 'lease_id', 'ingress', 'gateway', 'identity'])(
    'with another %s (protocol §17.2.4)',
    async (field) => {
      const forged = changed((claims) => {
        const value = claims[field]
        claims[field] =
          typeof value === 'number'
            ? value - 1
            : typeof value === 'string'
              ? value.replace(/.$/, (last) => (last === '1' ? '2' : '1'))
              : { name: 'x', address: '0x' }
      })
      expect(await refusalOf(gateway, forged)).toEqual([403, 'unauthorized'])
    },
  )

  test('with the address of another peer as its ingress', async () => {
    const { address } = await loadIdentity(other.directory)
    const forged = changed((claims) => Object.assign(claims, { ingress: address, iss: other.origin }))
    expect(await refusalOf(gateway, forged)).toEqual([403, 'unauthorized'])
  })

  test('with another signature, header or audience, or none', async () => {
    const [header, payload, signature] = capability.split('.')
    for (const forged of [
      `${header}.${payload}.${randomBytes(64).toString('base64url')}`,
      `${header}.${payload}.`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.${signature}`,
      changed((claims) => Object.assign(claims, { aud: 'svc-reverse' })),
      changed((claims) => Object.assign(claims, { aud: 'svc-sdk' })),
    ])
      expect(await refusalOf(gateway, forged)).toEqual([403, 'unauthorized'])
  })

  test('at another gateway, and at its own relay directly (protocol §17.2.4)', async () => {
    expect(await refusalOf(other, capability)).toEqual([403, 'unauthorized'])
    expect(await refusalOf(ingress, capability)).toEqual([403, 'unauthorized'])
  })

  test('for other uses, as the direct capability is through a gateway', async () => {
    const body = { access_token: capability }
    expect((await ingress.call('POST', PATH.renew, body)).status).toBe(403)
    const { reverse_endpoint: direct } = await ingress.register('direct-one')
    expect(await refusalOf(gateway, direct.capability)).toEqual([403, 'unauthorized'])
  })

  test('when the lease instance is another one', async () => {
    const account = (await import('../support/relay.ts')).newAccount()
    const before = await ingress.register('twice', { overlay: true, account })
    const at = gatewayOf(before.reverse_endpoint)
    await ingress.register('twice', { overlay: true, account })
    expect(await refusalOf(at, before.reverse_endpoint.capability)).toEqual([404, 'lease_not_found'])
  })

  test('when the relay chose another gateway since (protocol §17.2.6)', async () => {
    const before = await ingress.register('moved', { overlay: true })
    const body = { access_token: before.access_token, failed_url: before.reverse_endpoint.url }
    const { json } = await ingress.call('POST', PATH.reverse, body)
    expect((json.data as ReverseEndpoint).url).not.toBe(before.reverse_endpoint.url)
    expect(await refusalOf(gatewayOf(before.reverse_endpoint), before.reverse_endpoint.capability)).toEqual([
      403,
      'unauthorized',
    ])
  })

  test('when it has expired', async () => {
    const short = await ingress.register('short', { overlay: true, ttl: 1 })
    await vi.waitFor(
      async () =>
        expect(await refusalOf(gatewayOf(short.reverse_endpoint), short.reverse_endpoint.capability)).toEqual(
          [403, 'unauthorized'],
        ),
      PATIENT,
    )
  })

  test('on the overlay from any relay but its gateway (protocol §17.2.6)', async () => {
    const ask = async (localAddress: string): Promise<string> => {
      const socket: Socket = connect({
        host: ingress.overlayAddress,
        port: ingress.overlayPort,
        localAddress,
      })
      socket.on('error', () => {})
      socket.write(
        `GET /overlay/reverse HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: raw\r\nX-Svc-Reverse-Capability: ${capability}\r\n\r\n`,
      )
      // A stranger's connection is reset where its bytes came before the relay looked at the address.
      return (await readAll(socket).catch(() => '')).toString()
    }
    expect(await ask('127.0.91.99')).toBe('')
    expect(await ask(other.overlayAddress)).toContain('unauthorized')
  })

  test('at a stream of the carrier that a gateway brought, when it is of another lease', async () => {
    const stranger = await ingress.register('stranger')
    const [, link] = LINKS[1]!
    const { carrierOn } = await import('../support/carrier.ts')
    const carrier = carrierOn(await link(gateway, capability))
    expect(await (await carrier.open(stranger.reverse_endpoint.capability)).read(1)).toEqual(Buffer.of(1))
    expect(await (await carrier.open(capability)).read(1)).toEqual(Buffer.of(0))
    carrier.session.close()
  })
})
