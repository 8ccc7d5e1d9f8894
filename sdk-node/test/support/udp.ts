// Shared by the tests of UDP: services, visitors, and a network between SDK and relay that loses, swaps and swallows packets.

import { createSocket, type RemoteInfo, type Socket, type SocketType } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer, type Server as TcpServer, type Socket as TcpSocket } from 'node:net'

const LOOPBACK = { udp4: '127.0.0.1', udp6: '::1' } as const
const RETRY_MS = 100
const LOOK_MS = 5

type Family = keyof typeof LOOPBACK

export interface UdpService {
  port: number
  /** The sender, as `address:port`. */
  clients: Set<string>
  close(): void
}

export async function udpService(
  answer: (payload: Buffer, send: (payload: Buffer) => void) => void,
  type: Family = 'udp4',
): Promise<UdpService> {
  const socket = await bound(type)
  const clients = new Set<string>()
  socket.on('message', (payload, { address, port }) => {
    clients.add(`${address}:${port}`)
    answer(payload, (reply) => socket.send(reply, port, address))
  })
  return { port: socket.address().port, clients, close: () => socket.close() }
}

export const echo = (payload: Buffer, send: (payload: Buffer) => void): void => send(payload)

export class UdpVisitor {
  readonly socket: Socket
  readonly got: Buffer[] = []
  readonly #port: number
  readonly #host: string

  constructor(port: number, type: SocketType & Family = 'udp4') {
    this.#port = port
    this.#host = LOOPBACK[type]
    this.socket = createSocket(type)
    this.socket.on('message', (payload) => this.got.push(payload))
  }

  send(payload: Buffer | string): void {
    this.socket.send(payload, this.#port, this.#host)
  }

  /** Asks an echo until it answers with just that, for UDP may lose each, or bring an answer to an earlier one. */
  async ask(payload: Buffer | string, timeoutMs = 60_000): Promise<Buffer> {
    const asked = Buffer.from(payload)
    const before = this.got.length
    let sentAt = Number.NEGATIVE_INFINITY
    for (const end = performance.now() + timeoutMs; performance.now() < end; ) {
      if (performance.now() - sentAt > RETRY_MS) {
        this.send(payload)
        sentAt = performance.now()
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      const answer = this.got.slice(before).find((one) => one.equals(asked))
      if (answer) return answer
    }
    throw new Error('no answer')
  }
}

interface Impairment {
  /** Shares of the packets, from 0 to 1. */
  loss: number
  duplicate: number
  /** The share of the packets that are held back by a few milliseconds, behind others. */
  reorder: number
  /** Larger UDP payloads vanish. */
  mtu: number
  /** Milliseconds of delay each way, to which up to `jitter` are added at random, so that packets overtake each other. */
  delay: number
  jitter: number
}

const NONE: Impairment = { loss: 0, duplicate: 0, reorder: 0, mtu: 65_535, delay: 0, jitter: 0 }
const HELD_BACK_MS = 5

/** A proxy in front of a relay, for TCP and UDP; only UDP is impaired. */
export interface Network {
  impair(impairment: Partial<Impairment>): void
  /** Packets that did not vanish, of both ways. */
  passed: number
  /** The SDK's packets come from another port from now on. */
  rebind(): Promise<void>
  close(): void
}

export async function startNetwork(port: number, relayPort: number): Promise<Network> {
  const sockets = new Set<TcpSocket>()
  const tcp: TcpServer = createServer((socket) => {
    const onward = connect(relayPort, '127.0.0.1')
    for (const one of [socket, onward])
      sockets.add(one.on('error', () => {}).on('close', () => sockets.delete(one)))
    socket.pipe(onward).pipe(socket)
  }).listen(port, '127.0.0.1')
  await once(tcp, 'listening')
  let now = NONE
  let sdk: RemoteInfo | undefined
  const front = await bound('udp4', port)
  let back = await bound('udp4')
  const network: Network = {
    passed: 0,
    impair: (impairment) => {
      now = { ...NONE, ...impairment }
    },
    rebind: async () => {
      back.close()
      back = await bound('udp4')
      back.on('message', fromRelay)
    },
    close: () => {
      tcp.close()
      for (const socket of sockets) socket.destroy()
      front.close()
      back.close()
    },
  }
  const pass = (packet: Buffer, send: () => void): void => {
    if (packet.length > now.mtu || Math.random() < now.loss) return
    network.passed += 1
    const { delay, jitter, reorder, duplicate } = now
    const late = delay + jitter * Math.random() + (Math.random() < reorder ? HELD_BACK_MS : 0)
    if (late > 0) setTimeout(send, late)
    else send()
    if (Math.random() < duplicate) setTimeout(send, late)
  }
  const attempt = (send: () => void) => (): void => {
    try {
      send()
    } catch {
      // closed meanwhile
    }
  }
  const fromRelay = (packet: Buffer): void =>
    pass(
      packet,
      attempt(() => sdk && front.send(packet, sdk.port, sdk.address)),
    )
  front.on('message', (packet, from) => {
    sdk = from
    pass(
      packet,
      attempt(() => back.send(packet, relayPort, '127.0.0.1')),
    )
  })
  back.on('message', fromRelay)
  return network
}

async function bound(type: Family, port = 0): Promise<Socket> {
  const socket = createSocket(type)
  socket.on('error', () => {})
  socket.bind(port, LOOPBACK[type])
  await once(socket, 'listening')
  return socket
}
