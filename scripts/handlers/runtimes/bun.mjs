// Serves the handler by Bun.serve, and prints its port.
import { handle } from './handler.mjs'
import undici from './node_modules/undici/index.js'

const { port } = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: (request, server) =>
    handle(request, {
      OtherResponse: undici.Response,
      address: () => server.requestIP(request)?.address,
      upgrade: () => (server.upgrade(request) ? undefined : new Response(null, { status: 426 })),
    }),
  websocket: { message: (socket, data) => void socket.send(data) },
})
console.log(JSON.stringify({ port, version: Bun.version }))
