// Visitors of a UDP echo that ask and wait: one again and again, or many, each once.
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

/** Milliseconds for which round trips are measured. */
const TRIPS_MS = 500
/** Milliseconds after which a datagram that is not back was lost. */
const LOST_MS = 200
const BUFFER_BYTES = 4 * 1024 * 1024

export interface Trips {
  perSecond: number
  p50Us: number
  p99Us: number
}

export async function roundTrips(port: number, bytes: number): Promise<Trips> {
  const socket = await visitor(port)
  const payload = Buffer.alloc(bytes)
  const times: number[] = []
  const start = performance.now()
  while (performance.now() - start < TRIPS_MS) {
    const sent = performance.now()
    if (await answered(socket, payload)) times.push(performance.now() - sent)
  }
  const seconds = (performance.now() - start) / 1000
  socket.close()
  times.sort((a, b) => a - b)
  const quantile = (share: number): number => 1000 * (times[Math.floor(times.length * share)] ?? Number.NaN)
  return { perSecond: times.length / seconds, p50Us: quantile(0.5), p99Us: quantile(0.99) }
}

/** Sends one datagram of each of this many visitors, a few at a time. @returns a function that closes them */
export async function comeByTheThousand(port: number, count: number): Promise<() => void> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const some = await Promise.all(Array.from({ length: 100 }, () => visitor(port)))
    await Promise.all(some.map((socket) => answered(socket, Buffer.alloc(64))))
    sockets.push(...some)
  }
  return () => {
    for (const socket of sockets) socket.close()
  }
}

async function visitor(port: number): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: BUFFER_BYTES })
  socket.on('error', () => {})
  socket.connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

function answered(socket: Socket, payload: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (isBack: boolean): void => {
      clearTimeout(timer)
      socket.off('message', back)
      resolve(isBack)
    }
    const back = (): void => done(true)
    const timer = setTimeout(() => done(false), LOST_MS)
    socket.on('message', back)
    socket.send(payload)
  })
}
