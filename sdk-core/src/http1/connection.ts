// An HTTP/1.1 server on one connection (RFC 9112): it handles requests in order until one side ends the connection.

import type { ByteStream } from '../bytes/byte-stream.ts'
import type { HttpOptions } from '../exchange/http-options.ts'
import { refusal } from '../exchange/refusal.ts'
import type { Field } from '../semantics/fields.ts'
import { HttpError } from '../semantics/http-error.ts'
import type { RequestHead } from '../semantics/request-head.ts'
import { BufferedConnection } from './buffered-connection.ts'
import { Http1Exchange } from './exchange.ts'
import { frameRequest } from './request-framing.ts'
import { readRequestHead } from './request-parser.ts'
import { Http1ResponseWriter } from './response-writer.ts'

/**
 * Serves one connection. Resolves when it is over, and never rejects because of the visitor. Pipelined requests wait,
 * unread beyond a limit, until those before them are answered. So responses are in order and memory is bounded.
 */
export async function serveHttp1(stream: ByteStream, options: HttpOptions): Promise<void> {
  const connection = new BufferedConnection(stream)
  try {
    while (await serveOne(connection, options));
    await connection.close()
  } catch (error) {
    connection.break(error)
  }
}

/** @returns whether another request can follow */
async function serveOne(connection: BufferedConnection, options: HttpOptions): Promise<boolean> {
  const fields: Field[] = []
  let head: RequestHead | undefined
  try {
    head = await readRequestHead(connection.reader, options, fields)
    if (!head) return false
    options.activity?.('busy')
    return await new Http1Exchange(connection, frameRequest(head, options), options).run()
  } catch (error) {
    if (!(error instanceof HttpError) || connection.isBroken) throw error
    // A 426 names the protocol to upgrade to (RFC 9110 §15.5.22).
    const last = error.status === 426 ? 'close, upgrade\r\nupgrade: websocket' : 'close'
    await new Http1ResponseWriter(await refusal(error, fields, head?.method), '1.1').send(
      connection.writer,
      last,
    )
    return false
  }
}
