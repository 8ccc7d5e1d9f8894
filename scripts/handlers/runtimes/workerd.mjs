// Serves the handler by workerd, at a socket without miniflare's proxy, and prints its port.
import path from 'node:path'
import { Miniflare } from 'miniflare'

const FLAGS = ['enable_request_signal']
const miniflare = new Miniflare({
  modulesRoot: import.meta.dirname,
  modules: ['worker.mjs', 'handler.mjs'].map((name) => ({
    type: 'ESModule',
    path: path.join(import.meta.dirname, name),
  })),
  compatibilityDate: '2026-04-01',
  compatibilityFlags: FLAGS,
  unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
})
await miniflare.ready
const { port } = await miniflare.unsafeGetDirectURL()
console.log(JSON.stringify({ port: Number(port) }))
