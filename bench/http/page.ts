// The page that publishes, with the raw WebSocket beside it; bench/http/family.ts calls it there.
import { publish } from '@svc/sdk-browser'
import { CHUNK_BYTES, downloadBytes, galleryHtml, image, PATH, SMALL_BODY } from './work.ts'

export interface HttpPage {
  /** @returns the public URL */
  publish(relay: string, name: string, http2: boolean): Promise<string>
  /** @returns the seconds that it took to move `bytes`, as the others do */
  sendRaw(url: string, bytes: number): Promise<number>
  receiveRaw(url: string, bytes: number): Promise<number>
}

declare global {
  var httpBench: HttpPage
}

const CHUNK: Uint8Array<ArrayBuffer> = new Uint8Array(CHUNK_BYTES).fill(7)

globalThis.httpBench = {
  publish: async (relay, name, http2) => (await publish({ relay, name, http2, fetch: answer })).url,
  /** Nothing holds it back; the server says when it has all. */
  sendRaw: (url, bytes) =>
    withSocket(`${url}?receive=${bytes}`, async (socket) => {
      for (let sent = 0; sent < bytes; sent += CHUNK.length) socket.send(CHUNK)
      await new Promise((resolve) => socket.addEventListener('message', resolve, { once: true }))
    }),
  receiveRaw: (url, bytes) =>
    withSocket(`${url}?send=${bytes}`, async (socket) => {
      const whole = Promise.withResolvers<void>()
      let left = bytes
      socket.onmessage = ({ data }) => {
        left -= data.byteLength
        if (left <= 0) whole.resolve()
      }
      socket.send('go')
      await whole.promise
    }),
}

function answer(request: Request): Response | Promise<Response> {
  const url = new URL(request.url)
  if (url.pathname === PATH.small) return new Response(SMALL_BODY)
  if (url.pathname === PATH.download) return download(downloadBytes(url))
  if (url.pathname === PATH.upload) return upload(request)
  if (url.pathname === PATH.gallery)
    return new Response(galleryHtml(), { headers: { 'Content-Type': 'text/html' } })
  return new Response(image(url.pathname), { headers: { 'Content-Type': 'image/bmp' } })
}

function download(bytes: number): Response {
  let left = bytes
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    controller.enqueue(left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK)
    left -= CHUNK.length
    if (left <= 0) controller.close()
  }
  return new Response(new ReadableStream({ pull }), { headers: { 'Content-Length': `${bytes}` } })
}

async function upload(request: Request): Promise<Response> {
  let bytes = 0
  for await (const chunk of request.body!) bytes += chunk.length
  return new Response(`${bytes}`)
}

async function withSocket(url: string, work: (socket: WebSocket) => Promise<void>): Promise<number> {
  const socket = new WebSocket(url)
  socket.binaryType = 'arraybuffer'
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  const start = performance.now()
  await work(socket)
  const seconds = (performance.now() - start) / 1000
  socket.close()
  return seconds
}
