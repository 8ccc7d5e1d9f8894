// Sites that this process publishes, one by each carrier: they echo a body, send many bytes, and echo the messages of a WebSocket.
import { publish, type Site } from '@svc/sdk-node'

const CARRIERS = ['native', 'native-sessions', 'websocket'] as const
const PIECE_BYTES: number = 64 * 1024

export async function publishSites(relay: string, ca: string): Promise<Site[]> {
  const one = (carrier: (typeof CARRIERS)[number]): Promise<Site> =>
    publish({
      relay,
      ca,
      carrier,
      name: `soak-${carrier}`,
      identity: crypto.getRandomValues(new Uint8Array(32)),
      fetch: (request, info) => {
        const { pathname, searchParams } = new URL(request.url)
        if (pathname === '/bulk') return bulk(Number(searchParams.get('pieces')))
        if (pathname !== '/socket') return new Response(request.body)
        const { socket, response } = info.upgrade(request)
        socket.binaryType = 'arraybuffer'
        socket.onmessage = ({ data }) => socket.send(data)
        return response
      },
    })
  return await Promise.all(CARRIERS.map(one))
}

/** The bytes of a piece of a bulk response, which differ from those of its neighbours. */
export function pieceOf(number: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(PIECE_BYTES).fill(number)
}

function bulk(pieces: number): Response {
  let next = 0
  return new Response(
    new ReadableStream({
      pull: (controller) => {
        if (next < pieces) controller.enqueue(pieceOf(next++))
        else controller.close()
      },
    }),
  )
}
