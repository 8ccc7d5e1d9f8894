// Publishes from the worker in which it runs: a dedicated, a shared or a service worker. A message with a port asks for it.
import { type FetchInfo, publish } from '@svc/sdk-browser'

interface Asked {
  relay: string
  name: string
}

async function answer({ data, ports: [port] }: MessageEvent<Asked>): Promise<void> {
  const where = globalThis.constructor.name
  try {
    const site = await publish({ ...data, fetch: (request, info) => respond(request, info, where) })
    port?.postMessage({ url: site.url, state: site.state })
  } catch (error) {
    port?.postMessage({ error: String(error) })
  }
}

/** Frameworks copy requests and answers as it is done here. */
function respond(request: Request, info: FetchInfo, where: string): Response {
  const copy = new Request(request)
  const path = new URL(copy.url).pathname
  if (path === '/socket') {
    const { socket, response } = info.upgrade(request)
    socket.onmessage = ({ data }) => socket.send(data)
    return response
  }
  const user = /user=(\w+)/.exec(copy.headers.get('cookie') ?? '')?.[1]
  if (path !== '/login') return new Response(user ? `hello, ${user}` : `hello from a ${where}`)
  const answer = Response.redirect(new URL('/', copy.url), 303)
  answer.headers.append('Set-Cookie', 'user=ada; HttpOnly; Secure; Path=/')
  return new Response(answer.body, answer)
}

addEventListener('message', (event) => {
  const answered = answer(event)
  // a service worker lives as long as it has something to do
  if ('waitUntil' in event) (event as { waitUntil(promise: Promise<void>): void }).waitUntil(answered)
})
addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports
  if (port) port.onmessage = answer
})
