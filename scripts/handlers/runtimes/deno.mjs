// Serves the handler by Deno.serve, and prints its port.
import { handle } from './handler.mjs'
import undici from './node_modules/undici/index.js'

const onListen = ({ port }) => console.log(JSON.stringify({ port, version: Deno.version.deno }))
Deno.serve({ hostname: '127.0.0.1', port: 0, onListen }, (request, info) =>
  handle(request, { upgrade, OtherResponse: undici.Response, address: () => info.remoteAddr.hostname }),
)

function upgrade(request) {
  const { socket, response } = Deno.upgradeWebSocket(request)
  socket.onmessage = ({ data }) => socket.send(data)
  return response
}
