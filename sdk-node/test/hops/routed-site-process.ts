// `routed-site-process.ts ROUTE CA`: a site on a route of relays (their URLs, separated by commas). Prints its URL when it is online.

import { readFileSync } from 'node:fs'
import { publish } from '../../src/index.ts'

const MIB = 1024 * 1024

/** So many MiB, each of which begins with its number. */
function large(count: number): Response {
  let next = 0
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const piece = Buffer.alloc(MIB, 'route')
    piece.writeUInt32BE(next++)
    controller.enqueue(piece)
    if (next === count) controller.close()
  }
  return new Response(new ReadableStream({ pull }))
}

const [route = '', caFile = ''] = process.argv.slice(2)
const site = await publish({
  name: 'hidden',
  route: route.split(','),
  ca: readFileSync(caFile, 'utf8'),
  fetch: async (request, info) => {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/large') return large(Number(searchParams.get('mib')))
    if (pathname !== '/socket') return new Response(`answer to ${await request.text()}`)
    const { socket, response } = info.upgrade(request)
    socket.onmessage = ({ data }) => socket.send(`answer to ${data}`)
    return response
  },
})
process.stdout.write(`${site.url}\n`)
