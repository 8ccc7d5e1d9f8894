// HTTP/2 to a page: curl and Chromium over ALPN, a page of 100 images, bodies both ways, and a WebSocket in a stream.

import { curl } from '../tools/programs/curl.ts'
import { atDepth, wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'

const VERSION = ['--http2', '--write-out', ' %{http_version}']
const IMAGES = 100

test('curl speaks it with a site that does not say otherwise', async ({ relay, tenant }) => {
  const urls = await tenant.evaluate(async (relayUrl) => {
    const options = { relay: relayUrl, fetch: (): Response => new Response('hello') }
    const both = await svc.publish({ ...options, name: 'both' })
    const old = await svc.publish({ ...options, name: 'old', http2: false })
    return { both: both.url, old: old.url }
  }, relay.url)
  expect(String(await curl(relay.caFile, ...VERSION, urls.both))).toBe('hello 2')
  expect(String(await curl(relay.caFile, '--http1.1', urls.both))).toBe('hello')
  expect(String(await curl(relay.caFile, ...VERSION, urls.old))).toBe('hello 1.1')
})

wholeOnly(test, 'depth')(
  'a page of 100 images comes over one connection',
  async ({ relay, tenant, visitor }) => {
    const url = await tenant.evaluate(
      async ([relayUrl, images]) => {
        const page = Array.from({ length: images }, (_, i) => `<img src="/${i}.svg">`).join('')
        const image = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="5"></svg>'
        const answer = (body: string, type: string) =>
          new Response(body, { headers: { 'Content-Type': type } })
        const fetch = (request: Request): Response =>
          request.url.endsWith('.svg') ? answer(image, 'image/svg+xml') : answer(page, 'text/html')
        return (await svc.publish({ relay: relayUrl, name: 'images', fetch })).url
      },
      [relay.url, IMAGES] as const,
    )
    await visitor.goto(url)
    const seen = await visitor.evaluate(() => {
      const entries = [
        ...performance.getEntriesByType('navigation'),
        ...performance.getEntriesByType('resource'),
      ]
      const images = entries.filter(({ name }) => name.endsWith('.svg')) as PerformanceResourceTiming[]
      return {
        widths: [...new Set([...document.images].map(({ naturalWidth }) => naturalWidth))],
        protocols: [
          ...new Set((entries as PerformanceResourceTiming[]).map((entry) => entry.nextHopProtocol)),
        ],
        // A request on a connection that is there has no time of connecting.
        images: images.filter(({ connectStart, connectEnd }) => connectStart === connectEnd).length,
      }
    })
    expect(seen).toEqual({ widths: [7], protocols: ['h2'], images: IMAGES })
  },
)

const BODY_BYTES: number = atDepth(20_000_000, 3_000_000)

wholeOnly(test, 'depth')(`${BODY_BYTES} bytes go up and come down`, async ({ relay, tenant, visitor }) => {
  const url = await tenant.evaluate(async (relayUrl) => {
    const fetch = async (request: Request): Promise<Response> => {
      if (request.method === 'GET')
        return new Response('<title>Bodies</title>', { headers: { 'Content-Type': 'text/html' } })
      const bytes = await request.arrayBuffer()
      return new Response(bytes, { headers: { 'X-Sum': await svc.sha256(bytes) } })
    }
    return (await svc.publish({ relay: relayUrl, name: 'bodies', fetch })).url
  }, relay.url)
  await visitor.goto(url)
  const seen = await visitor.evaluate(async (size) => {
    const sum = async (bytes: BufferSource): Promise<string> =>
      [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))]
        .map((byte) => byte.toString(16).padStart(2, '0'))
        .join('')
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 12)) & 0xff)
    const response = await fetch('/', { method: 'POST', body: bytes })
    const back = await response.arrayBuffer()
    return [await sum(bytes), response.headers.get('X-Sum'), await sum(back)]
  }, BODY_BYTES)
  expect(new Set(seen).size).toBe(1)
})

test('a WebSocket is a stream of the connection that is there', async ({ relay, tenant, visitor }) => {
  const url = await tenant.evaluate(async (relayUrl) => {
    const site = await svc.publish({
      relay: relayUrl,
      name: 'sockets',
      fetch: (request, info) => {
        if (request.headers.get('upgrade') === null)
          return new Response('<title>Sockets</title>', { headers: { 'Content-Type': 'text/html' } })
        const { socket, response } = info.upgrade(request, { protocol: 'echo' })
        // Only HTTP/1.1 has a key in its handshake.
        socket.onopen = () => socket.send(String(request.headers.get('sec-websocket-key')))
        socket.onmessage = ({ data }) => {
          if (data === 'close the site') site.close()
          else socket.send(data)
        }
        return response
      },
    })
    return site.url
  }, relay.url)
  await visitor.goto(url)
  const seen = await visitor.evaluate(async () => {
    const socket = new WebSocket(location.origin.replace('https:', 'wss:'), ['other', 'echo'])
    const events: unknown[] = []
    const closed = new Promise<CloseEvent>((resolve) => {
      socket.onclose = resolve
    })
    socket.onopen = () => {
      socket.send('x'.repeat(1_000_000))
      socket.send('close the site')
    }
    socket.onmessage = ({ data }) => events.push(data.length > 100 ? data.length : data)
    const { code, wasClean } = await closed
    return { protocol: socket.protocol, events, code, wasClean }
  })
  expect(seen).toEqual({ protocol: 'echo', events: ['null', 1_000_000], code: 1001, wasClean: true })
})

wholeOnly(test, 'variant')(
  'two sites of one relay show certificates of their own, so that no browser takes one for the other',
  async ({ relay, tenant, visitor }) => {
    const urls = await tenant.evaluate(async (relayUrl) => {
      const publish = async (name: string): Promise<string> => {
        const fetch = (): Response =>
          new Response(`<title>${name}</title>`, { headers: { 'Content-Type': 'text/html' } })
        return (await svc.publish({ relay: relayUrl, name, fetch })).url
      }
      return [await publish('first'), await publish('second')]
    }, relay.url)
    const session = await visitor.context().newCDPSession(visitor)
    await session.send('Network.enable')
    const seen: { host: string; protocol: string | undefined; names: string[] }[] = []
    session.on('Network.responseReceived', ({ response: { url, protocol, securityDetails } }) => {
      seen.push({ host: new URL(url).hostname, protocol, names: securityDetails?.sanList ?? [] })
    })
    for (const url of [...urls, ...urls]) {
      const response = await visitor.goto(url)
      expect(response?.status()).toBe(200)
      await expect(visitor).toHaveTitle(url.includes('first') ? 'first' : 'second')
    }
    await expect.poll(() => seen.length).toBeGreaterThanOrEqual(4)
    for (const { host, protocol, names } of seen) {
      const [label] = host.split('.')
      const canonical = expect.stringMatching(new RegExp(`^${label}-[0-9a-f]{40}\\.relay\\.localhost$`))
      expect({ protocol, names }).toEqual({ protocol: 'h2', names: [host, canonical] })
    }
  },
)
