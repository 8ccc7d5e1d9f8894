import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { Responder } from '../../src/server/responder.ts'
import type { ResponseRates } from '../../src/server/response-rate.ts'
import { listenOverTcp, TcpConnections, type TcpLimits } from '../../src/server/tcp-listener.ts'
import { dnsQuery, readAnswer, TYPE, word } from '../support/dns-message.ts'
import { SmallZone } from '../support/small-zone.ts'

const FAR: number = 60 * 60_000
const EACH = { idleMs: FAR, lifetimeMs: FAR, unreadBytes: 64 * 1024 }
const LIMITS: TcpLimits = { connections: 100, perNetwork: 100, each: EACH }
const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function startServer(limits: Partial<TcpLimits> = {}, rates: Partial<ResponseRates> = {}) {
  const responder = new Responder({ zone: new SmallZone(), onZoneError: () => {}, rates })
  const connections = new TcpConnections(responder, { ...LIMITS, ...limits })
  const listener = await listenOverTcp({ host: '127.0.0.1', port: 0, onEnd: () => {} }, connections)
  cleanups.push(() => {
    connections.close()
    return listener.close()
  })
  /** @param host address of the client */
  const client = async (host = '127.0.0.1'): Promise<Client> => {
    const socket = connect({
      host: '127.0.0.1',
      port: listener.port,
      localAddress: host,
      allowHalfOpen: true,
    })
    cleanups.push(() => socket.destroy())
    await once(socket, 'connect')
    return new Client(socket)
  }
  return { responder, client }
}

class Client {
  readonly socket: Socket
  readonly closed: Promise<unknown>
  #received = Buffer.alloc(0)

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('error', () => {})
    this.closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('end', () => socket.end())
    socket.on('data', (data: Buffer) => {
      this.#received = Buffer.concat([this.#received, data])
    })
  }

  /** Resolves with this many answers. */
  readonly answers = async (count: number): Promise<Buffer[]> => {
    for (;;) {
      const all = this.#all()
      if (all.length >= count) return all
      await pause(2)
    }
  }

  #all(): Buffer[] {
    const all: Buffer[] = []
    for (let at = 0; at + 2 <= this.#received.length; ) {
      const end = at + 2 + this.#received.readUInt16BE(at)
      if (end > this.#received.length) break
      all.push(this.#received.subarray(at + 2, end))
      at = end
    }
    return all
  }
}

function framed(message: Buffer): Buffer {
  return Buffer.concat([word(message.length), message])
}

describe('queries', () => {
  test('many at once are answered in their order, and the end of the client does not end the answers', async () => {
    const { client } = await startServer()
    const { socket, answers, closed } = await client()
    const ids = Array.from({ length: 500 }, (_, index) => index)
    socket.end(Buffer.concat(ids.map((id) => framed(dnsQuery({ id })))))
    expect((await answers(500)).map((answer) => readAnswer(answer).id)).toEqual(ids)
    await closed
  })

  test('a query may come byte by byte', async () => {
    const { client } = await startServer()
    const { socket, answers } = await client()
    for (const byte of framed(dnsQuery())) {
      socket.write(Buffer.from([byte]))
      await pause(1)
    }
    expect(readAnswer((await answers(1))[0])).toMatchObject({ answers: [{ data: '192.0.2.1' }] })
  })

  test('an answer that no datagram holds', async () => {
    const { client } = await startServer()
    const { socket, answers } = await client()
    socket.write(framed(dnsQuery({ name: 'huge.relay.test', type: TYPE.TXT })))
    expect(readAnswer((await answers(1))[0]).answers).toHaveLength(8)
  })

  test.each([
    ['a query of 4097 bytes', Buffer.concat([word(4097), dnsQuery()])],
    ['an answer', framed(dnsQuery({ flags: 0x8000 }))],
    ['nothing, again and again', Buffer.alloc(64)],
  ])('%s ends the connection', async (_what, bytes) => {
    const { client } = await startServer()
    const { socket, closed } = await client()
    socket.write(bytes)
    await closed
  })
})

describe('limits', () => {
  test('a connection ends without a whole query in time, however many bytes come', async () => {
    const { client, responder } = await startServer({ each: { ...EACH, idleMs: 200 } })
    const silent = await client()
    const slow = await client()
    const query = framed(dnsQuery({ name: 'a.b.relay.test' }))
    const writing = (async () => {
      for (let index = 0; !slow.socket.destroyed && index < query.length - 1; index++) {
        slow.socket.write(query.subarray(index, index + 1))
        await pause(20)
      }
    })()
    await Promise.all([silent.closed, slow.closed])
    await writing
    expect(responder.counts.queries.answered).toBe(0)
  })

  test('a busy connection ends after its lifetime', async () => {
    const { client } = await startServer({ each: { ...EACH, lifetimeMs: 200 } })
    const { socket, closed } = await client()
    const asking = setInterval(() => socket.write(framed(dnsQuery())), 10)
    await closed
    clearInterval(asking)
  })

  test('one network has so many connections, and others have theirs', async () => {
    const { client, responder } = await startServer({ perNetwork: 3 })
    const mine = await Promise.all([client(), client('127.0.0.9'), client()])
    await (await client('127.0.0.2')).closed
    const other = await client('127.0.1.1')
    other.socket.write(framed(dnsQuery()))
    await other.answers(1)
    expect(responder.counts.connections).toBe(4)
    mine[0]!.socket.destroy()
    await until(() => responder.counts.connections === 3)
    const again = await client()
    again.socket.write(framed(dnsQuery()))
    await again.answers(1)
  })

  test('when there is no room, the connection that was idle for the longest time makes room', async () => {
    const { client, responder } = await startServer({ connections: 3 })
    const [first, second, third] = [await client(), await client(), await client()]
    for (const { socket, answers } of [third, first]) {
      socket.write(framed(dnsQuery()))
      await answers(1)
    }
    const fourth = await client()
    await second.closed
    fourth.socket.write(framed(dnsQuery()))
    await fourth.answers(1)
    expect(responder.counts.connections).toBe(3)
    expect([first.socket.destroyed, third.socket.destroyed]).toEqual([false, false])
  })

  test('a client that reads nothing stops the server, which goes on when it reads', async () => {
    // How many whole answers the rate of a network gives depends on how fast the machine is.
    const { client, responder } = await startServer({}, { proven: { perSecond: 1e6, burst: 1e6 } })
    const { socket, closed } = await client()
    socket.removeAllListeners('data').pause()
    const query = framed(dnsQuery({ name: 'huge.relay.test', type: TYPE.TXT }))
    const COUNT = 20_000
    socket.end(Buffer.concat(Array.from({ length: COUNT }, () => query)))
    // 40 MB of answers are wanted; the kernel's buffers of both ends and ours hold a part of them.
    let seen = -1
    while (seen !== responder.counts.overTcp || seen === 0) {
      seen = responder.counts.overTcp
      await pause(300)
    }
    expect(seen).toBeLessThan(COUNT)
    let bytes = 0
    socket.on('data', (data) => {
      bytes += data.length
    })
    socket.resume()
    await closed
    expect(responder.counts.overTcp).toBe(COUNT)
    expect(bytes).toBeGreaterThan(COUNT * 2000)
  })
})

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(2)
}
