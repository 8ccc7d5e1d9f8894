// The WebSocket carrier's lowest layer, against a real server: the offer, the gate on sending, and how it ends.

import { type AddressInfo, createServer, type Socket } from 'node:net'
import { WEBSOCKET_MESSAGE_MAX_BYTES } from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type WebSocket as ServerSocket, WebSocketServer } from 'ws'
import type { ConnectionTransport } from '../../src/carrier/connection-transport.ts'
import {
  BUFFERED_AMOUNT_MAX_BYTES,
  CONNECT_DEADLINE_MS,
  openWebSocket,
} from '../../src/carrier/websocket-transport.ts'

const never = new AbortController().signal
let server: WebSocketServer
let offered: string[] = []
let selected: string | false
let url: string

beforeEach(async () => {
  selected = 'svc.reverse.v1'
  server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    handleProtocols: (protocols) => {
      offered = [...protocols]
      return selected
    },
  })
  await new Promise((resolve) => server.once('listening', resolve))
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  for (const client of server.clients) client.terminate()
  server.close()
})

async function connect(): Promise<{
  transport: ConnectionTransport
  peer: ServerSocket
  message: ReturnType<typeof vi.fn>
  closed: ReturnType<typeof vi.fn>
}> {
  const accepted = new Promise<ServerSocket>((resolve) => server.once('connection', resolve))
  const message = vi.fn()
  const closed = vi.fn()
  let transport: ConnectionTransport | undefined
  await openWebSocket(
    { url, capability: 'a.b-c_d' },
    (opened) => {
      transport = opened
      return { message, closed }
    },
    never,
  )
  return { transport: transport!, peer: await accepted, message, closed }
}

describe('offer', () => {
  it('is exactly svc.reverse.v1 and the capability (protocol §7.2.1)', async () => {
    await connect()
    expect(offered).toEqual(['svc.reverse.v1', 'a.b-c_d'])
  })

  it('is refused when the relay selects the capability (protocol §7.2.1)', async () => {
    selected = 'a.b-c_d'
    await expect(connect()).rejects.toMatchObject({ code: 'unexpected_answer' })
  })

  it('fails as relay_unreachable when the upgrade is refused or nobody listens', async () => {
    server.options.verifyClient = () => false
    await expect(connect()).rejects.toMatchObject({ code: 'relay_unreachable' })
    url = 'ws://127.0.0.1:1'
    await expect(connect()).rejects.toMatchObject({ code: 'relay_unreachable' })
  })

  it('fails in time when nothing answers, and at once when aborted', async () => {
    const sockets: Socket[] = []
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    const target = { url: `ws://127.0.0.1:${(silent.address() as AddressInfo).port}`, capability: 'c' }
    const attach = vi.fn()
    try {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const late = openWebSocket(target, attach, never)
      vi.advanceTimersByTime(CONNECT_DEADLINE_MS)
      await expect(late).rejects.toMatchObject({ code: 'relay_unreachable', message: /in time/ })
      const controller = new AbortController()
      const aborted = openWebSocket(target, attach, controller.signal)
      controller.abort()
      await expect(aborted).rejects.toMatchObject({ code: 'aborted' })
      await expect(openWebSocket(target, attach, controller.signal)).rejects.toMatchObject({
        code: 'aborted',
      })
      expect(attach).not.toHaveBeenCalled()
    } finally {
      vi.useRealTimers()
      for (const socket of sockets) socket.destroy()
      silent.close()
    }
  })
})

describe('messages', () => {
  it('are bytes both ways', async () => {
    const { transport, peer, message } = await connect()
    const got = new Promise((resolve) => peer.once('message', resolve))
    transport.send(Uint8Array.of(1, 2, 3))
    expect(await got).toEqual(Buffer.of(1, 2, 3))
    peer.send(Buffer.of(4, 5))
    await vi.waitFor(() => expect(message).toHaveBeenCalledWith(Uint8Array.of(4, 5)))
  })

  it.each([
    ['text', 'text'],
    ['more than a message may hold', Buffer.alloc(WEBSOCKET_MESSAGE_MAX_BYTES + 1)],
  ])('that are %s close the socket unread', async (_, data) => {
    const { peer, message, closed } = await connect()
    const code = new Promise((resolve) => peer.once('close', resolve))
    peer.send(data)
    expect(await code).toBe(4000)
    await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce())
    expect(message).not.toHaveBeenCalled()
  })

  it('of the largest size are taken', async () => {
    const { peer, message } = await connect()
    peer.send(Buffer.alloc(WEBSOCKET_MESSAGE_MAX_BYTES))
    await vi.waitFor(() => expect(message).toHaveBeenCalledOnce())
  })
})

describe('sending', () => {
  it('waits while more than BUFFERED_AMOUNT_MAX_BYTES are buffered, and goes on when the peer reads', async () => {
    const { transport, peer } = await connect()
    peer.pause()
    let gated: unknown
    let sent = 0
    // the kernel takes some megabytes first
    while (!(gated instanceof Promise) && sent < 64e6) {
      gated = transport.send(new Uint8Array(65_536))
      sent += 65_536
      if (!gated) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(gated).toBeInstanceOf(Promise)
    expect(sent).toBeGreaterThan(BUFFERED_AMOUNT_MAX_BYTES)
    const done = vi.fn()
    const opened = Promise.resolve(gated).then(done)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(done).not.toHaveBeenCalled()
    peer.resume()
    await opened
    expect(transport.send(Uint8Array.of(1))).toBeUndefined()
  })

  it('is let go when the socket closes, and dropped afterwards', async () => {
    const { transport, peer, closed } = await connect()
    peer.pause()
    const gates = Array.from({ length: 1000 }, () => transport.send(new Uint8Array(65_536)))
    expect(gates.some((gate) => gate instanceof Promise)).toBe(true)
    peer.terminate()
    await Promise.all(gates)
    expect(closed).toHaveBeenCalledOnce()
    expect(transport.send(Uint8Array.of(1))).toBeUndefined()
  })
})

describe('end', () => {
  it.each([4001, 4002, 1000, 1001])('reports close code %i', async (code) => {
    const { peer, closed } = await connect()
    peer.close(code)
    await vi.waitFor(() => expect(closed).toHaveBeenCalledExactlyOnceWith(code))
  })

  it('reports a cut as 1006', async () => {
    const { peer, closed } = await connect()
    peer.terminate()
    await vi.waitFor(() => expect(closed).toHaveBeenCalledExactlyOnceWith(1006))
  })
})
