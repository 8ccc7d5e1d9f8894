// One exchange over HTTP/1.1: it passes the request to the handler and the Response to the visitor, and frames both bodies.

import { encodeLatin1 } from '../bytes/latin1.ts'
import type { Inform } from '../exchange/direct.ts'
import { HandlerCall } from '../exchange/handler-call.ts'
import type { HttpOptions } from '../exchange/http-options.ts'
import type { OutgoingResponse } from '../exchange/outgoing-response.ts'
import type { Field } from '../semantics/fields.ts'
import type { UpgradeTransport, WebSocketUpgrade } from '../websocket/upgrade.ts'
import type { BufferedConnection } from './buffered-connection.ts'
import { Http1RequestBody } from './request-body.ts'
import type { Http1Request } from './request-framing.ts'
import { Http1ResponseWriter, headText } from './response-writer.ts'

const SWITCHING = 'Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade'

export class Http1Exchange {
  readonly #connection: BufferedConnection
  readonly #request: Http1Request
  readonly #closing: AbortSignal | undefined
  readonly #body: Http1RequestBody | undefined
  readonly #call: HandlerCall

  /** @throws HttpError when the platform cannot make the Request */
  constructor(connection: BufferedConnection, request: Http1Request, options: HttpOptions) {
    this.#connection = connection
    this.#request = request
    this.#closing = options.closing
    // A failure breaks the connection and with it the exchange.
    const inform = (...head: Parameters<Inform>): Promise<void> =>
      connection.writer.write(encodeInterim(...head)).catch(() => {})
    const sendContinue = request.expectsContinue ? () => inform(100, 'Continue', []) : undefined
    if (request.length !== 0)
      this.#body = new Http1RequestBody(connection.reader, request.length, sendContinue)
    this.#call = new HandlerCall(request, this.#body, () => transportOver(connection), options, inform)
  }

  /**
   * @returns whether another request can follow
   * @throws HttpError when the body turned out malformed before the response began
   * @throws the error that broke the connection
   */
  async run(): Promise<boolean> {
    this.#connection.setDisconnectListener(this.#call)
    try {
      const answer = await this.#call.answer()
      const mayFollow = this.#request.persistent && this.#closing?.aborted !== true
      const isReusable = mayFollow && (this.#body?.isReusable ?? true)
      const persistent = await this.#send(answer, isReusable)
      // Over HTTP/1.0 a response may end with the connection.
      if (this.#request.head.version !== '1.0') await this.#body?.readOn()
      this.#body?.release()
      return persistent && ((await this.#body?.drain()) ?? true)
    } finally {
      this.#call.end()
      this.#connection.setDisconnectListener(undefined)
    }
  }

  async #send(answer: OutgoingResponse | WebSocketUpgrade, isReusable: boolean): Promise<boolean> {
    try {
      if (!('batches' in answer)) {
        await answer.send()
        return false
      }
      const responseWriter = new Http1ResponseWriter(answer, this.#request.head.version)
      const persistent = isReusable && responseWriter.isReusable
      await responseWriter.send(this.#connection.writer, !persistent && 'close')
      return persistent
    } catch (error) {
      this.#call.failed(error)
      // Breaking the connection tells the visitor that the response is incomplete.
      this.#connection.break(error)
      throw error
    }
  }
}

function encodeInterim(status: number, reason: string, fields: Field[]): Uint8Array {
  return encodeLatin1(`${headText(status, reason, fields)}\r\n`)
}

/** Hands the connection to the other protocol after 101 (RFC 9110 §7.8). */
function transportOver({ stream }: BufferedConnection): UpgradeTransport {
  return {
    stream,
    isKeyed: true,
    open: (fields) => stream.write(encodeInterim(101, SWITCHING, fields)),
  }
}
