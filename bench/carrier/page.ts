// The carrier in a page, beside a plain WebSocket; bench/carrier/browser.ts calls it there.
import { Session, type Stream } from '@svc/yamux'
import { openWebSocket } from '../../sdk-core/src/carrier/websocket-transport.ts'

export interface CarrierPage {
  /** @returns the seconds that it took to move `bytes`, as the others do */
  sendRaw(url: string, bytes: number): Promise<number>
  receiveRaw(url: string, bytes: number): Promise<number>
  sendYamux(url: string, bytes: number): Promise<number>
  receiveYamux(url: string, bytes: number): Promise<number>
}

declare global {
  var carrierBench: CarrierPage
}

const MESSAGE: Uint8Array<ArrayBuffer> = new Uint8Array(64 * 1024).fill(7)

globalThis.carrierBench = {
  /** Nothing holds it back; the server says when it has all. */
  sendRaw: (url, bytes) =>
    withSocket(`${url}/raw?receive=${bytes}`, async (socket) => {
      for (let sent = 0; sent < bytes; sent += MESSAGE.length) socket.send(MESSAGE)
      await new Promise((resolve) => socket.addEventListener('message', resolve, { once: true }))
    }),
  receiveRaw: (url, bytes) =>
    withSocket(
      `${url}/raw?send=${bytes}`,
      (socket) =>
        new Promise<void>((resolve) => {
          let left = bytes
          socket.onmessage = ({ data }) => {
            left -= data.byteLength
            if (left <= 0) resolve()
          }
          socket.send('go')
        }),
    ),
  /** The server ends its side when it has all. */
  sendYamux: (url, bytes) =>
    withSession(`${url}/yamux?receive=${bytes}`, async (session) => {
      const stream = await session.open()
      for (let sent = 0; sent < bytes; sent += MESSAGE.length) await stream.write(MESSAGE)
      await stream.end()
      await drain(stream)
    }),
  receiveYamux: (url, bytes) =>
    withSession(`${url}/yamux?send=${bytes}`, async (session) => {
      const stream = await session.open()
      await stream.end()
      await drain(stream)
    }),
}

async function withSocket(url: string, work: (socket: WebSocket) => Promise<unknown>): Promise<number> {
  const socket = new WebSocket(url)
  socket.binaryType = 'arraybuffer'
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  const seconds = await timed(() => work(socket))
  socket.close()
  return seconds
}

/** Over the transport that the SDK uses. */
async function withSession(url: string, work: (session: Session) => Promise<unknown>): Promise<number> {
  const { session } = await openWebSocket(
    { url, capability: 'bench' },
    (transport) => {
      const session = new Session(transport, { role: 'client' })
      return {
        session,
        message: (bytes: Uint8Array) => session.receive(bytes),
        closed: () => session.transportClosed(),
      }
    },
    new AbortController().signal,
  )
  const seconds = await timed(() => work(session))
  session.close()
  return seconds
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

async function drain(stream: Stream): Promise<void> {
  while ((await stream.read()) !== undefined);
}
