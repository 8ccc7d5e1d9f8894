// A visitor's WebSocket and server-sent events: a page in one tab, served by a page in another.
import { expect, test } from './fixtures.ts'

test('two Chromium pages exchange text and binary', async ({ relay, tenant, visitor }) => {
  const url = await tenant.evaluate(async (relayUrl) => {
    const site = await svc.publish({
      relay: relayUrl,
      name: 'socket',
      fetch: (request, info) => {
        if (request.headers.get('upgrade') === null) return new Response('a page')
        const { socket, response } = info.upgrade(request, { protocol: 'echo' })
        socket.binaryType = 'arraybuffer'
        socket.onopen = () => socket.send(`welcome, ${request.headers.get('origin')}`)
        socket.onmessage = ({ data }) => {
          if (data === 'close the site') site.close()
          else socket.send(typeof data === 'string' ? data.toUpperCase() : data)
        }
        return response
      },
    })
    return site.url
  }, relay.url)
  await visitor.goto(url)
  const seen = await visitor.evaluate(async () => {
    const socket = new WebSocket(location.origin.replace('https:', 'wss:'), ['other', 'echo'])
    socket.binaryType = 'arraybuffer'
    const events: unknown[] = []
    const closed = new Promise<CloseEvent>((resolve) => {
      socket.onclose = resolve
    })
    const binary = Uint8Array.from({ length: 1_000_000 }, (_, i) => i % 251)
    socket.onopen = () => {
      socket.send('grüße')
      socket.send('compressed '.repeat(1000))
      socket.send(binary)
      socket.send('close the site')
    }
    socket.onmessage = ({ data }) => {
      if (typeof data === 'string')
        events.push(data.length < 100 ? data : `${data.length} ${data.slice(0, 10)}`)
      else events.push(new Uint8Array(data).every((byte, i) => byte === binary[i]) && data.byteLength)
    }
    const { code, wasClean } = await closed
    return { protocol: socket.protocol, extensions: socket.extensions, events, code, wasClean }
  })
  expect(seen).toEqual({
    protocol: 'echo',
    extensions: 'permessage-deflate; server_no_context_takeover; client_no_context_takeover',
    events: [`welcome, ${url}`, 'GRÜSSE', '11000 COMPRESSED', 1_000_000],
    code: 1001,
    wasClean: true,
  })
})

test('server-sent events are not buffered', async ({ relay, tenant, visitor }) => {
  const url = await tenant.evaluate(async (relayUrl) => {
    const html = { 'Content-Type': 'text/html' }
    let send: (text: string) => void = () => {}
    const { url } = await svc.publish({
      relay: relayUrl,
      name: 'events',
      fetch: (request) => {
        const { pathname } = new URL(request.url)
        // The second event comes only because the visitor confirmed the first.
        if (pathname === '/seen') send('data: second\n\n')
        if (pathname !== '/events') return new Response('<title>Events</title>', { headers: html })
        const body = new ReadableStream({
          start(controller) {
            send = (text) => controller.enqueue(new TextEncoder().encode(text))
            setTimeout(() => send('data: first\n\n'), 100)
          },
        })
        return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
      },
    })
    return url
  }, relay.url)
  await visitor.goto(url)
  const events = await visitor.evaluate(async () => {
    const source = new EventSource('/events')
    const events: string[] = []
    for (let i = 0; i < 2; i++) {
      events.push(
        await new Promise<string>((resolve) => {
          source.onmessage = ({ data }) => resolve(data)
          if (i === 1) fetch('/seen', { method: 'POST' })
        }),
      )
    }
    source.close()
    return events
  })
  expect(events).toEqual(['first', 'second'])
})
