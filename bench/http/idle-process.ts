// Two sites in a process of Node, with HTTP/1.1 and with HTTP/2, which reports its memory when it is asked. Ends with its
// parent.
import { readFile } from 'node:fs/promises'
import { publish } from '@svc/sdk-node'
import { SMALL_BODY } from './work.ts'

/** The first message to the parent. */
export interface Started {
  urls: [http1: string, http2: string]
}

/** Bytes of each further connection. */
export interface Memory {
  heap: number
  rss: number
}

const [relay, caFile] = process.argv.slice(2)
const ca = await readFile(caFile!)
const [http1, http2] = await Promise.all(
  [false, true].map((http2) =>
    publish({
      relay: relay!,
      ca,
      name: http2 ? 'idle-two' : 'idle-one',
      identity: crypto.getRandomValues(new Uint8Array(32)),
      http2,
      fetch: () => new Response(SMALL_BODY),
    }),
  ),
)
process.on('message', () => {
  const { gc } = globalThis
  gc?.()
  gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  process.send!({ rss, heap: heapUsed + external } satisfies Memory)
})
process.on('disconnect', () => process.exit())
process.send!({ urls: [http1!.url, http2!.url] } satisfies Started)
