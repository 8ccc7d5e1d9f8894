// yamux in Chromium over the SDK's WebSocket, beside a plain WebSocket; the other end is ws in this process.
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { WebSocket } from 'ws'
import { alternate } from '../lib/alternate.ts'
import { compared, type Entry, missing } from '../lib/entry.ts'
import { INSTALL_CHROMIUM, openTab } from '../lib/page.ts'
import type { CarrierPage } from './page.ts'
import { listen, receiveRaw, receiveStream, sendRaw, sendStream, sessionOver } from './websocket-end.ts'

const BYTES: number = 64 * 1024 * 1024
const QUESTION = { unit: 'MB/s', better: 'more', peer: 'raw WebSocket', target: 0.75 } as const
const DIRECTIONS = [
  { name: 'yamux in Chromium, page to server', ours: 'sendYamux', theirs: 'sendRaw' },
  { name: 'yamux in Chromium, server to page', ours: 'receiveYamux', theirs: 'receiveRaw' },
] as const

export async function* browser(runs: number): AsyncGenerator<Entry> {
  const opened = await openTab(path.join(import.meta.dirname, 'page.ts'))
  if (opened === undefined) {
    for (const { name } of DIRECTIONS) yield missing({ ...QUESTION, name }, null, INSTALL_CHROMIUM)
    return
  }
  const listener = await listen()
  listener.on('connection', serve)
  const url = `ws://localhost:${(listener.address() as AddressInfo).port}`
  const speed = (method: keyof CarrierPage) => async (): Promise<number> => {
    const seconds = await opened.tab.evaluate(
      ([method, url, bytes]) => globalThis.carrierBench[method](url, bytes),
      [method, url, BYTES] as const,
    )
    return BYTES / 1e6 / seconds
  }
  for (const direction of DIRECTIONS) {
    const { ours, theirs } = await alternate(runs, {
      ours: speed(direction.ours),
      theirs: speed(direction.theirs),
    })
    yield compared({ ...QUESTION, name: direction.name }, ours, theirs)
  }
  await opened.close()
  listener.close()
}

/** `/raw` or `/yamux`, with `?send=` or `?receive=` and the number of bytes. */
async function serve(socket: WebSocket, request: IncomingMessage): Promise<void> {
  const { pathname, searchParams } = new URL(request.url!, 'ws://localhost')
  const [send, receive] = [Number(searchParams.get('send')), Number(searchParams.get('receive'))]
  if (pathname === '/yamux') {
    sessionOver(socket, {
      role: 'server',
      onStream: async (stream) => {
        if (receive > 0) await receiveStream(stream, receive)
        await sendStream(stream, send)
      },
    })
  } else if (receive > 0) {
    await receiveRaw(socket, receive)
    socket.send('done')
  } else socket.once('message', () => void sendRaw(socket, send))
}
