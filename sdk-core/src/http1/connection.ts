// An HTTP/1.1 server on one connection: requests in order, each through the handler, until one side has enough.

import type { ByteStream } from '../bytes/byte-stream.ts'
import type { HttpOptions } from '../exchange/http-options.ts'
import { HttpError } from '../semantics/http-error.ts'
import type { Head } from '../semantics/request-head.ts'
import { encodeRefusal } from './error-response.ts'
import { Exchange } from './exchange.ts'
import { readHead } from './head-parser.ts'
import { ask } from './request-parser.ts'
import { Peer } from './visitor-stream.ts'

/**
 * Serves one connection. Resolves when it is over, and never rejects for what the visitor does. Pipelined requests
 * wait, unread beyond a bound, until those before them are answered: so responses are in order and memory is bounded.
 */
export async function serveHttp(stream: ByteStream, options: HttpOptions): Promise<void> {
  const peer = new Peer(stream)
  try {
    while (await serveOne(peer, options));
    await peer.close()
  } catch (error) {
    peer.break(error)
  }
}

/** @returns whether another request can follow */
async function serveOne(peer: Peer, options: HttpOptions): Promise<boolean> {
  let head: Head | undefined
  try {
    head = await readHead(peer.input, options)
    if (!head) return false
    options.activity?.('busy')
    return await new Exchange(peer, ask(head, options), options).run()
  } catch (error) {
    if (!(error instanceof HttpError) || peer.isBroken) throw error
    await peer.output.write(encodeRefusal(error, head?.method))
    return false
  }
}
