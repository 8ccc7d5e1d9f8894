// Attacks on what passes requests on to live sites: crowds, slow readers, framing that two servers may read differently, and
// bans.

import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { wholeOnly } from '../../../../tools/test-depth.ts'
import { LiveSiteAdmission } from '../../../src/features/static-cache/live-site/admission.ts'
import {
  LIVE_DEADLINES,
  LIVE_IDLE_PER_SITE_MAX,
  LIVE_REQUESTS_PER_NETWORK_MAX,
  LIVE_REQUESTS_PER_SITE_MAX,
  LIVE_RESERVED_SHARE,
} from '../../../src/features/static-cache/live-site/limits.ts'
import { newLease } from '../../support/lease.ts'
import { type HandMadeSite, type LiveRelay, openLiveSite, startLiveRelay } from '../../support/live-sites.ts'
import { beginRequest, closeOf } from '../../support/live-visitor.ts'
import { nodeHttp } from '../../support/tls-site.ts'

let relay: LiveRelay | undefined
const sites: HandMadeSite[] = []
afterEach(async () => {
  for (const site of sites.splice(0)) await site.close()
  await relay?.close()
  relay = undefined
})

async function start(options: Parameters<typeof startLiveRelay>[0] = {}): Promise<LiveRelay> {
  relay = await startLiveRelay(options)
  return relay
}

async function open(
  relay: LiveRelay,
  serve: RequestListener | ((connection: TLSSocket) => void),
): Promise<HandMadeSite> {
  const isListener = serve.length > 1
  const site = await openLiveSite(
    relay,
    `site${sites.length}`,
    isListener ? nodeHttp(serve as RequestListener).serve : (serve as (connection: TLSSocket) => void),
  )
  sites.push(site)
  return site
}

/** @param address of the client, as the relay's listener would find it */
async function get(site: HandMadeSite, address: string, path = '/'): Promise<IncomingMessage> {
  const asked = beginRequest(relay!, site, path, { headers: { 'X-Test-Address': address } })
  asked.on('error', () => {}).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  return response
}

describe('admission', () => {
  const networks = (count: number): string[] => Array.from({ length: count }, (_, n) => `192.0.2.${n}`)

  test('one network, one site and all together have so many requests, and their end makes room', () => {
    const admission = new LiveSiteAdmission(4 * LIVE_REQUESTS_PER_SITE_MAX, 1)
    const [first, second, third] = [newLease(), newLease(), newLease()]
    const leaves = Array.from({ length: LIVE_REQUESTS_PER_NETWORK_MAX }, () => admission.enter(first, 'a'))
    expect(leaves.every((leave) => leave !== undefined)).toBe(true)
    expect(admission.enter(second, 'a')).toBeUndefined()
    for (const network of networks(LIVE_REQUESTS_PER_SITE_MAX - LIVE_REQUESTS_PER_NETWORK_MAX))
      expect(admission.enter(first, network)).toBeDefined()
    expect(admission.enter(first, 'other')).toBeUndefined()
    for (let i = 0; i < LIVE_REQUESTS_PER_SITE_MAX; i++)
      expect(admission.enter(second, undefined)).toBeDefined()
    expect(admission.enter(second, undefined)).toBeUndefined()
    // More than once is as good as once.
    for (let i = 0; i < 3; i++) leaves[0]!.leave()
    expect(admission.enter(third, 'a')).toBeDefined()
    expect(admission.enter(third, 'a')).toBeUndefined()
  })

  test('sites that have some leave a share of the slots to those that have none', () => {
    const MAX = 64
    const admission = new LiveSiteAdmission(MAX, 1)
    const [greedy, others] = [newLease(), Array.from({ length: MAX }, () => newLease())]
    let taken = 0
    while (admission.enter(greedy, undefined) !== undefined) taken += 1
    expect(taken).toBe(MAX - MAX * LIVE_RESERVED_SHARE)
    const admitted = others.map((lease) => admission.enter(lease, undefined)).filter((slot) => slot)
    expect(admitted).toHaveLength(MAX * LIVE_RESERVED_SHARE)
  })

  test('the longest quiet response makes room, of a site that has no fewer, and none that has not begun', async () => {
    const admission = new LiveSiteAdmission(3, 20)
    const [first, second] = [newLease(), newLease()]
    const [waiting, quiet, quieter] = [first, first, second].map(
      (lease) => admission.enter(lease, undefined)!,
    )
    quieter!.heard()
    await setTimeout(5)
    quiet!.heard()
    expect(admission.enter(first, undefined)).toBeUndefined()
    await setTimeout(40)
    expect(admission.enter(first, undefined)).toBeDefined()
    expect([waiting, quiet, quieter].map((slot) => slot!.cut.signal.aborted)).toEqual([false, true, false])
    expect(admission.enter(newLease(), undefined)).toBeDefined()
    expect(quieter!.cut.signal.aborted).toBe(true)
    expect(admission.enter(newLease(), undefined)).toBeUndefined()
  })

  test.each(['a response', 'a WebSocket'])(
    '%s that says nothing is cut when another request needs its slot, and not before',
    async (what) => {
      // One request of all sites.
      const deadlines = { ...LIVE_DEADLINES, crowdedQuietMs: 500 }
      const relay = await start({ connections: 32, deadlines })
      const { server, serve } = nodeHttp((request, response) => {
        if (request.url === '/fine') response.end('fine')
        else response.writeHead(200).flushHeaders()
      })
      server.on('upgrade', (_request, socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
      )
      const site = await open(relay, (connection: TLSSocket) => serve(connection))
      const headers = what === 'a response' ? {} : { Connection: 'Upgrade', Upgrade: 'websocket' }
      const asked = beginRequest(relay, site, '/', { headers })
      const from = performance.now()
      asked.on('error', () => {}).end()
      const { promise: socket, resolve } = Promise.withResolvers<Socket>()
      asked.on('response', (response) => resolve(response.on('error', () => {}).socket))
      asked.on('upgrade', (_response, upgraded: Socket) => resolve(upgraded.on('error', () => {}).resume()))
      const closed = closeOf(await socket)
      const early = await get(site, '192.0.2.2', '/fine')
      // On a slow machine the response may have been quiet for long enough by then.
      if (performance.now() - from < deadlines.crowdedQuietMs) expect(early.statusCode).toBe(503)
      await expect.poll(async () => (await get(site, '192.0.2.2', '/fine')).statusCode).toBe(200)
      await closed
    },
  )

  wholeOnly(test, 'depth')(
    'a crowd at a site that does not answer is refused beyond it, and others are served',
    async () => {
      // Two requests of all sites.
      const relay = await start({ connections: 64 })
      const { promise: isFull, resolve } = Promise.withResolvers<void>()
      let open1 = 0
      const silent = await open(relay, (_request, response) => {
        response.writeHead(200).flushHeaders()
        open1 += 1
        if (open1 === 2) resolve()
      })
      const crowd = [await get(silent, '192.0.2.1'), await get(silent, '192.0.2.2')]
      await isFull
      const refused = await get(silent, '192.0.2.3')
      expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1'])
      for (const { socket } of crowd) socket.destroy()
      await expect.poll(async () => (await get(silent, '192.0.2.3')).statusCode).toBe(200)
    },
  )
})

wholeOnly(test, 'clock')(
  'connections that wait for the next request of a client are bounded for a site',
  async () => {
    const relay = await start()
    const site = await open(relay, (_request, response) => response.end())
    const clients = LIVE_IDLE_PER_SITE_MAX + 8
    for (let n = 0; n < clients; n++) (await get(site, `192.0.2.${n}`)).resume()
    expect(site.connections.length).toBe(clients)
    const isOpen = ({ destroyed }: TLSSocket): boolean => !destroyed
    await expect.poll(() => site.connections.filter(isOpen).length).toBe(LIVE_IDLE_PER_SITE_MAX)
  },
)

wholeOnly(test, 'clock')('they are bounded for all sites together, and wait for a bounded time', async () => {
  // Two requests of all sites, and one connection that waits.
  const relay = await start({ connections: 64 })
  const sites = [
    await open(relay, (_request, response) => response.end()),
    await open(relay, (_request, response) => response.end()),
  ]
  for (const site of sites) (await get(site, '192.0.2.1')).resume()
  const all = sites.flatMap(({ connections }) => connections)
  expect(all).toHaveLength(2)
  const isOpen = ({ destroyed }: TLSSocket): boolean => !destroyed
  await expect.poll(() => all.filter(isOpen).length).toBe(1)
  await expect.poll(() => all.filter(isOpen).length).toBe(0)
})

test('a relay that begins to close lets none of them wait, so that they do not pass for visitors', async () => {
  const closing = new AbortController()
  const relay = await start({ closing: closing.signal })
  const site = await open(relay, (_request, response) => response.end())
  ;(await get(site, '192.0.2.1')).resume()
  await expect.poll(() => relay.parts.visitors.visitorsOf(site.lease)).toBe(1)
  closing.abort()
  await expect.poll(() => relay.parts.visitors.visitorsOf(site.lease)).toBe(0)
  ;(await get(site, '192.0.2.1')).resume()
  await expect.poll(() => relay.parts.visitors.visitorsOf(site.lease)).toBe(0)
})

wholeOnly(test, 'clock')(
  'visitors who stop reading cost a bounded amount of memory, and are cut after a while',
  async () => {
    const CHUNK = Buffer.alloc(64 * 1024)
    const READERS = 32
    const READER_MAX_BYTES = 16 * 1024 * 1024
    const relay = await start({ deadlines: { ...LIVE_DEADLINES, stalledMs: 3_000 } })
    let sent = 0
    const site = await open(relay, (_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(CHUNK)) sent += CHUNK.length
      }
      response.on('drain', more)
      more()
    })
    const readers = await Promise.all(Array.from({ length: READERS }, () => get(site, '192.0.2.1')))
    const closed = readers.map((response) => closeOf(response.on('error', () => {}).socket))
    // Each holds what the buffers of the kernel, of the relay, of the site and of this process take, and no more.
    await expect
      .poll(async () => {
        const before = sent
        await setTimeout(300)
        return sent - before
      })
      .toBe(0)
    expect(sent).toBeLessThan(READERS * READER_MAX_BYTES)
    expect(site.connections).toHaveLength(READERS)
    await Promise.all(site.connections.map((connection) => closeOf(connection)))
    for (const response of readers) response.resume()
    await Promise.all(closed)
  },
)

describe('framing', () => {
  /** All bytes that the site got, and the answers that the visitor got. */
  async function exchange(bytes: string): Promise<{ got: string; answered: string }> {
    const relay = await start()
    let got = ''
    const site = await open(relay, (connection: TLSSocket) => {
      connection.on('data', (chunk: Buffer) => {
        got += chunk.toString('latin1')
        if (got.endsWith('\r\n\r\n')) connection.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      })
    })
    const { hostname, host } = new URL(site.url)
    const socket = relay.tls(hostname)
    let answered = ''
    socket.on('data', (chunk: Buffer) => (answered += chunk.toString('latin1')))
    const closed = closeOf(socket)
    socket.write(bytes.replaceAll('HOST', host).replaceAll('\n', '\r\n'))
    await vi.waitUntil(() => socket.closed || answered.endsWith('\r\n\r\nok'))
    socket.destroy()
    await closed
    return { got, answered }
  }

  const SMUGGLED = 'GET /smuggled HTTP/1.1\nHost: HOST\n\n'

  test.each([
    [
      'both lengths',
      `POST / HTTP/1.1\nHost: HOST\nContent-Length: 6\nTransfer-Encoding: chunked\n\n0\n\n${SMUGGLED}`,
    ],
    [
      'two different lengths',
      `POST / HTTP/1.1\nHost: HOST\nContent-Length: 0\nContent-Length: 37\n\n${SMUGGLED}`,
    ],
    ['a length with a sign', `POST / HTTP/1.1\nHost: HOST\nContent-Length: +0\n\n${SMUGGLED}`],
    [
      'an unknown coding',
      `POST / HTTP/1.1\nHost: HOST\nTransfer-Encoding: gzip, chunked\n\n0\n\n${SMUGGLED}`,
    ],
    [
      'a coding with a tab',
      `POST / HTTP/1.1\nHost: HOST\nTransfer-Encoding:\tchunked, identity\n\n0\n\n${SMUGGLED}`,
    ],
    ['a field name with a blank', `POST / HTTP/1.1\nHost: HOST\nContent-Length : 37\n\n${SMUGGLED}`],
    ['a folded field', `POST / HTTP/1.1\nHost: HOST\nX: a\n Transfer-Encoding: chunked\n\n${SMUGGLED}`],
  ])('%s: the site gets no request that was hidden in it', async (_what, bytes) => {
    const { got, answered } = await exchange(bytes)
    expect(answered).toMatch(/^HTTP\/1\.1 (?:400|501)/)
    expect(got).toBe('')
  })

  test('a length that the connection lists as its own stays the length', async () => {
    const { got } = await exchange(
      'POST / HTTP/1.1\nHost: HOST\nConnection: X, Content-Length\nX: a\nContent-Length: 4\n\n\n\n',
    )
    expect(got).toMatch(/^POST \/ HTTP\/1\.1\r\n/)
    expect(got.match(/content-length: \d+/gi)).toEqual(['Content-Length: 4'])
    expect(got).not.toContain('X: a')
  })

  test('chunk extensions and sizes of the visitor do not reach the site', async () => {
    const { got } = await exchange(
      'POST / HTTP/1.1\nHost: HOST\nTransfer-Encoding: chunked\n\n3;a=b\nabc\n2\nde\n0\n\n',
    )
    expect(got).toContain('Transfer-Encoding: chunked\r\n')
    expect(got).not.toContain('a=b')
    expect(got.endsWith('0\r\n\r\n')).toBe(true)
  })
})

test('a ban closes what is open, and connections that wait', async () => {
  const relay = await start({ env: { ADMIN_TOKEN: 'a-long-random-value' } })
  const site = await open(relay, (request, response) => {
    if (request.url === '/kept') response.end()
    else response.writeHead(200).write('begins')
  })
  ;(await get(site, '192.0.2.1', '/kept')).resume()
  const streaming = await get(site, '192.0.2.2')
  await once(streaming, 'data')
  const [kept, busy] = site.connections as [TLSSocket, TLSSocket]
  const closed = Promise.all([closeOf(kept), closeOf(busy), closeOf(streaming)])
  streaming.on('error', () => {})
  await relay.parts.state.policy.updateLease({ identity_key: site.lease.identityKey, is_banned: true })
  await closed
  expect(streaming.complete).toBe(false)
})

test('a lease that is replaced ends what is open, and the next request goes to the new one', async () => {
  const relay = await start()
  const site = await open(relay, (_request, response) => void response.writeHead(200).write('begins'))
  const streaming = await get(site, '192.0.2.1')
  await once(streaming, 'data')
  const broken = once(streaming, 'error')
  relay.parts.state.leases.end(site.lease, 'replaced')
  await broken
  expect((await get(site, '192.0.2.1')).statusCode).toBe(503)
})
