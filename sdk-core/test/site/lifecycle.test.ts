// A site's life against a double of the relay: online, visited, thrown off, back again, closed.

import { createHash } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { READY_SESSIONS_MAX } from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MAINTENANCE_INTERVAL_MS } from '../../src/carrier/multiplexed-carrier.ts'
import { DEMAND_HALF_LIFE_MS, READY_STREAMS_MIN } from '../../src/carrier/ready-streams.ts'
import type { SvcError } from '../../src/errors.ts'
import { identityFromKey } from '../../src/identity/key.ts'
import { publishOn } from '../../src/publish.ts'
import { Backoff } from '../../src/site/backoff.ts'
import { STABLE_AFTER_MS } from '../../src/site/lifecycle.ts'
import type { PublishOptions } from '../../src/site/options.ts'
import { parseOptions } from '../../src/site/options.ts'
import { PublishedSite } from '../../src/site/published-site.ts'
import type { Site } from '../../src/site/site.ts'
import { failing, RelayDouble, testPlatform } from '../support/relay-double.ts'

const { address } = identityFromKey(new Uint8Array(32).fill(1))
let relay: RelayDouble
let sites: Pick<Site, 'close'>[]

beforeEach(async () => {
  relay = await RelayDouble.start()
  sites = []
})
afterEach(async () => {
  for (const site of sites) await site.close()
  await relay.crash()
})

async function publish(
  options: Partial<PublishOptions> = {},
  platform = testPlatform(),
): Promise<Site & { states: string[]; errors: SvcError[] }> {
  const site = await publishOn(platform, {
    relay: relay.url,
    name: 'Demo',
    fetch: () => new Response('hello'),
    ...options,
  })
  sites.push(site)
  const states: string[] = []
  const errors: SvcError[] = []
  site.addEventListener('statechange', () => states.push(site.state))
  site.addEventListener('error', ({ error }) => errors.push(error))
  return Object.assign(site, { states, errors })
}

const guest = (): Promise<TLSSocket> => relay.visit('demo.relay.localhost')

async function get(
  socket: TLSSocket,
  head = 'GET / HTTP/1.1\r\nHost: demo.relay.localhost\r\nConnection: close\r\n\r\n',
): Promise<string> {
  socket.write(head)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  return Buffer.concat(chunks).toString('latin1')
}

describe('publish', () => {
  it('tells when its URL works, and when it does not any more', async () => {
    const changes: unknown[] = []
    const onSite = (site: Site) => site.addEventListener('urlschange', ({ detail }) => changes.push(detail))
    const site = await publish({ onSite })
    expect(changes).toEqual([{ added: [site.url], removed: [] }])
    await site.close()
    expect(changes.slice(1)).toEqual([{ added: [], removed: [site.url] }])
    expect(site.urls).toEqual([])
  })

  it('resolves when visitors can come, and serves them', async () => {
    const site = await publish()
    expect(site.state).toBe('online')
    expect(site.url).toBe(`https://demo.relay.localhost:${relay.port}`)
    expect(site.urls).toEqual([site.url])
    expect(site.canonicalUrl).toBe(
      `https://demo-${address.slice(2).toLowerCase()}.relay.localhost:${relay.port}`,
    )
    expect(await get(await relay.visit('demo.relay.localhost'))).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n.*hello/s)
    expect(site.errors).toEqual([])
  })

  it('takes the canonical name for its URL when the friendly one was not granted', async () => {
    const register = relay.overrides
    register['/sdk/register'] = () => [
      200,
      {
        ok: true,
        data: {
          identity: { name: 'demo', address },
          hostname: '',
          canonical_hostname: `demo-${address.slice(2).toLowerCase()}.relay.localhost`,
          expires_at: new Date(Date.now() + 120_000).toISOString(),
          access_token: 'access.1',
          reverse_endpoint: { url: `${relay.url}/sdk/connect`, capability: 'capability.1', overlay: false },
        },
      },
    ]
    const site = await publish({ allowCanonicalFallback: true })
    expect(site.url).toBe(site.canonicalUrl)
  })

  it.each([
    ['/sdk/register', failing(409, 'hostname_conflict'), 'hostname_conflict'],
    ['/sdk/register', failing(429, 'rate_limited'), 'rate_limited'],
    [
      '/sdk/domain',
      () => [200, { ok: true, data: { protocol_version: '9' } }] as [number, object],
      'incompatible_relay',
    ],
    ['/sdk/certificate-chain', () => [200, {}] as [number, object], 'unexpected_answer'],
  ])('rejects when %s answers otherwise', async (path, answer, code) => {
    relay.overrides[path] = answer
    await expect(publish()).rejects.toMatchObject({ name: 'SvcError', code })
    const isOpen = ({ readyState, CLOSED }: (typeof relay.sockets)[number]): boolean => readyState !== CLOSED
    await expect.poll(() => relay.sockets.filter(isOpen)).toHaveLength(0)
  })

  it('gives back the lease when it came no further', async () => {
    relay.overrides['/sdk/certificate-chain'] = failing(503, 'feature_unavailable')
    await expect(publish()).rejects.toMatchObject({ code: 'certificate_unavailable' })
    expect(relay.count('/sdk/unregister')).toBe(1)
  })

  it('rejects with relay_unreachable when there is none, and with aborted when aborted', async () => {
    await expect(publish({ relay: 'https://relay.localhost:1' })).rejects.toMatchObject({
      code: 'relay_unreachable',
    })
    await expect(publish({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' })
    const controller = new AbortController()
    const publishing = publish({ signal: controller.signal })
    controller.abort()
    await expect(publishing).rejects.toMatchObject({ code: 'aborted' })
  })

  it('serves every visitor after a quiet minute, also of a relay that hands out the oldest session first', async () => {
    await publish({ fetch: async (request) => new Response(await request.text()) })
    // visitors come faster than sessions are replaced
    for (let wanted = READY_STREAMS_MIN; wanted <= READY_SESSIONS_MAX; wanted *= 2) {
      await expect.poll(() => relay.ready.length).toBe(wanted)
      if (wanted < READY_SESSIONS_MAX)
        for (const socket of await Promise.all([...relay.ready].map(guest))) socket.destroy()
    }
    await new Promise((resolve) => setTimeout(resolve, MAINTENANCE_INTERVAL_MS))
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + DEMAND_HALF_LIFE_MS)
    for (const stream of relay.ready) await stream.write(Uint8Array.of(0))
    await new Promise((resolve) => setTimeout(resolve, 50))
    for (let left = 6; left > 0; left--) expect(await get(await guest())).toMatch(/^HTTP\/1\.1 200 /)
    vi.restoreAllMocks()
  })

  it('streams bodies both ways unchanged', async () => {
    await publish({ fetch: (request) => new Response(request.body) })
    const socket = await relay.visit('demo.relay.localhost')
    const body = Buffer.alloc(3_000_000, 'svc!')
    const head = `POST / HTTP/1.1\r\nHost: demo.relay.localhost\r\nContent-Length: ${body.length}\r\n\r\n`
    socket.write(head)
    socket.write(body)
    const hash = createHash('sha256')
    let text = ''
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      text += chunk.toString('latin1')
      if (text.endsWith('0\r\n\r\n')) break
    }
    const [, chunked] = [text.slice(0, text.indexOf('\r\n\r\n')), text.slice(text.indexOf('\r\n\r\n') + 4)]
    for (let at = 0; ; ) {
      const line = chunked.indexOf('\r\n', at)
      const size = Number.parseInt(chunked.slice(at, line), 16)
      if (size === 0) break
      hash.update(chunked.slice(line + 2, line + 2 + size), 'latin1')
      at = line + 4 + size
    }
    expect(hash.digest('hex')).toBe(createHash('sha256').update(body).digest('hex'))
  })
})

describe('errors of a visit', () => {
  it('a handler that throws is an error event; the site goes on', async () => {
    let broken = true
    const site = await publish({
      fetch: () => {
        if (broken) throw new Error('oops')
        return new Response('fine')
      },
    })
    expect(await get(await relay.visit('demo.relay.localhost'))).toMatch(/^HTTP\/1\.1 500 /)
    expect(site.errors).toMatchObject([{ code: 'handler_failed', cause: new Error('oops') }])
    broken = false
    expect(await get(await relay.visit('demo.relay.localhost'))).toContain('fine')
    expect(site.state).toBe('online')
  })

  it('a refused signature costs that visitor, and is an error event', async () => {
    const site = await publish()
    relay.overrides['/v1/sign'] = () => [403, { error: 'no' }]
    await expect(relay.visit('demo.relay.localhost')).rejects.toThrow()
    expect(site.errors).toMatchObject([{ code: 'sign_refused' }])
    relay.overrides = {}
    expect(await get(await relay.visit('demo.relay.localhost'))).toContain('hello')
  })

  it('another host than its own gets 421', async () => {
    await publish()
    const socket = await relay.visit('demo.relay.localhost')
    expect(
      await get(socket, 'GET / HTTP/1.1\r\nHost: other.relay.localhost\r\nConnection: close\r\n\r\n'),
    ).toMatch(/^HTTP\/1\.1 421 /)
  })
})

describe('life', () => {
  const online = (site: Site): Promise<void> => vi.waitFor(() => expect(site.state).toBe('online'))

  it('registers again when the lease ended (4001) (protocol §7.6.1)', async () => {
    const site = await publish()
    relay.endLease(4001)
    await vi.waitFor(() => expect(site.states).toEqual(['reconnecting', 'online']))
    expect(site.errors).toMatchObject([{ code: 'lease_ended' }])
    expect(relay.count('/sdk/register')).toBe(2)
    expect(await get(await relay.visit('demo.relay.localhost'))).toContain('hello')
  })

  it('closes instead of fighting when the lease was replaced (4002) (protocol §7.6.2)', async () => {
    const site = await publish()
    relay.endLease(4002)
    await vi.waitFor(() => expect(site.state).toBe('closed'))
    expect(site.errors).toMatchObject([{ code: 'lease_replaced' }])
    expect(site.states).toEqual(['reconnecting', 'closed'])
    expect([relay.count('/sdk/register'), relay.count('/sdk/unregister')]).toEqual([1, 0])
  })

  it('reconnects with the lease that it has when only the socket broke (protocol §7.6.3)', async () => {
    const site = await publish()
    relay.endLease(1012)
    await vi.waitFor(() => expect(site.states).toEqual(['reconnecting', 'online']))
    expect([relay.count('/sdk/register'), relay.count('/sdk/renew')]).toEqual([1, 0])
  })

  it('starts over with short pauses only after it was online for STABLE_AFTER_MS', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] })
    const reset = vi.spyOn(Backoff.prototype, 'reset')
    try {
      const site = await publish()
      relay.endLease(4001)
      await vi.waitFor(() => expect(site.states).toEqual(['reconnecting', 'online']))
      expect(reset).not.toHaveBeenCalled()
      vi.advanceTimersByTime(STABLE_AFTER_MS + 1)
      relay.endLease(4001)
      await vi.waitFor(() => expect(site.state).toBe('reconnecting'))
      expect(reset).toHaveBeenCalledOnce()
    } finally {
      reset.mockRestore()
      vi.useRealTimers()
    }
  })

  it('comes back, under the same URL, from a relay that crashed and forgot it', async () => {
    const site = await publish()
    const { url } = site
    const { port } = relay
    await relay.crash()
    await vi.waitFor(() => expect(site.errors.length).toBeGreaterThan(1))
    expect(site.state).toBe('reconnecting')
    relay.overrides['/sdk/renew'] = failing(404, 'lease_not_found')
    await relay.listen(port)
    await online(site)
    expect(site.url).toBe(url)
    expect(await get(await relay.visit('demo.relay.localhost'))).toContain('hello')
  })

  it('closes when its name went to someone else meanwhile', async () => {
    const site = await publish()
    relay.overrides['/sdk/register'] = failing(409, 'hostname_conflict')
    relay.endLease(4001)
    await vi.waitFor(() => expect(site.state).toBe('closed'))
    expect(site.errors.map(({ code }) => code)).toEqual(['lease_ended', 'hostname_conflict'])
  })

  it('renews ahead of expiry with the ttl that was asked for', async () => {
    relay.ttlS = 1
    await publish({ ttl: 1 })
    await vi.waitFor(() => expect(relay.count('/sdk/renew')).toBeGreaterThanOrEqual(2))
    expect(relay.count('/sdk/register')).toBe(1)
  })

  it('a renewal whose connection is cut is tried again on another one, and the site stays online', async () => {
    relay.ttlS = 2
    const forgetConnections = vi.fn()
    const site = await publish({ ttl: 2 }, { ...testPlatform(), forgetConnections })
    relay.raw['/sdk/renew'] = async (_, response) => {
      relay.raw = {}
      response.destroy()
    }
    await vi.waitFor(() => expect(relay.count('/sdk/renew')).toBe(2))
    expect(forgetConnections).toHaveBeenCalledOnce()
    expect(site.errors).toMatchObject([{ code: 'relay_unreachable' }])
    expect([site.states, relay.count('/sdk/register')]).toEqual([[], 1])
  })

  it('close unregisters, ends the carrier, and is final (protocol §6.2.5)', async () => {
    const site = await publish()
    const [socket] = relay.sockets
    const closed = new Promise((resolve) => socket!.once('close', resolve))
    await site.close()
    await closed
    expect(site.states).toEqual(['closed'])
    expect(relay.count('/sdk/unregister')).toBe(1)
    await site.close()
    expect(relay.count('/sdk/unregister')).toBe(1)
    expect(site.errors).toEqual([])
  })

  it('the signal closes it', async () => {
    const controller = new AbortController()
    const site = await publish({ signal: controller.signal })
    controller.abort()
    expect(site.state).toBe('closed')
    await vi.waitFor(() => expect(relay.count('/sdk/unregister')).toBe(1))
  })

  it('close while reconnecting stops the attempts', async () => {
    const site = await publish()
    await relay.crash()
    await vi.waitFor(() => expect(site.state).toBe('reconnecting'))
    await site.close()
    const { length } = site.errors
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(site.errors).toHaveLength(length)
    expect(site.state).toBe('closed')
  })

  it('a page that goes unregisters; one that comes back from the cache is published again', async () => {
    const options = { relay: relay.url, name: 'demo', fetch: () => new Response('hello') }
    const platform = testPlatform()
    const site = new PublishedSite(
      platform,
      { ...parseOptions(options), name: 'demo' },
      identityFromKey(await platform.loadIdentity()),
    )
    sites.push(site)
    await site.start()
    site.suspend()
    expect(site.state).toBe('reconnecting')
    await vi.waitFor(() => expect(relay.count('/sdk/unregister')).toBe(1))
    relay.ready = []
    site.resume()
    await online(site as unknown as Site)
    expect(relay.count('/sdk/register')).toBe(2)
    expect(await get(await relay.visit('demo.relay.localhost'))).toContain('hello')
  })
})
