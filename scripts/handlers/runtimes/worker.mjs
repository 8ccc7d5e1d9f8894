// The handler as a module of workerd.
import { handle } from './handler.mjs'

export default {
  fetch: (request, _env, context) =>
    handle(request, { upgrade, waitUntil: (work) => context.waitUntil(work) }),
}

function upgrade() {
  const [client, server] = Object.values(new WebSocketPair())
  server.accept()
  server.addEventListener('message', ({ data }) => server.send(data))
  return new Response(null, { status: 101, webSocket: client })
}
