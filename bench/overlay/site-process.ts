// `site-process.ts ROUTE CA NAME`: a site on a route of relays (their URLs, separated by commas), which answers with many bytes or few.
import { readFileSync } from 'node:fs'
import { publish } from '../../sdk-node/src/index.ts'

const PIECE_BYTES = 256 * 1024

const [route = '', caFile = '', name = ''] = process.argv.slice(2)
const [first = '', ...rest] = route.split(',')
const piece = new Uint8Array(PIECE_BYTES)

function many(bytes: number): Response {
  let left = bytes / PIECE_BYTES
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (left-- > 0) controller.enqueue(piece.slice())
    else controller.close()
  }
  return new Response(new ReadableStream({ pull }))
}

const site = await publish({
  ...(rest.length > 0 ? { route: [first, ...rest] } : { relay: first }),
  name,
  ca: readFileSync(caFile, 'utf8'),
  fetch: (request) => {
    const bytes = Number(new URL(request.url).searchParams.get('bytes'))
    return bytes > 0 ? many(bytes) : new Response('ok')
  },
})
console.log(site.url)
