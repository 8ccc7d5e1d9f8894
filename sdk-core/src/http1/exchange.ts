// One exchange over HTTP/1.1: the handler gets the request, the visitor the response, and both bodies are framed.

import { encodeLatin1 } from '../bytes/latin1.ts'
import { Call } from '../exchange/handler-call.ts'
import type { HttpOptions } from '../exchange/http-options.ts'
import { Answer } from '../exchange/prepared-response.ts'
import type { Tunnel } from '../websocket/upgrade.ts'
import { Body } from './request-body.ts'
import type { AskedInOrder } from './request-parser.ts'
import { Reply } from './response-writer.ts'
import type { Peer } from './visitor-stream.ts'

const CONTINUE: Uint8Array = encodeLatin1('HTTP/1.1 100 Continue\r\n\r\n')
const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n'

export class Exchange {
  readonly #peer: Peer
  readonly #asked: AskedInOrder
  readonly #closing: AbortSignal | undefined
  readonly #body: Body | undefined
  readonly #call: Call

  /** @throws HttpError when the platform cannot make the Request */
  constructor(peer: Peer, asked: AskedInOrder, options: HttpOptions) {
    this.#peer = peer
    this.#asked = asked
    this.#closing = options.closing
    const invite = asked.expectsContinue ? () => peer.output.write(CONTINUE) : undefined
    if (asked.length !== 0) this.#body = new Body(peer.input, asked.length, invite)
    this.#call = new Call(asked, this.#body, () => tunnelOver(peer), options)
  }

  /**
   * @returns whether another request can follow
   * @throws HttpError when the body turned out malformed before the response began
   * @throws what the connection broke with
   */
  async run(): Promise<boolean> {
    this.#peer.watch(this.#call)
    try {
      const answer = await this.#call.answer()
      const mayFollow = this.#asked.persistent && this.#closing?.aborted !== true
      const isReusable = mayFollow && (this.#body?.isReusable ?? true)
      const persistent = await this.#send(answer, isReusable)
      this.#body?.release()
      return persistent && ((await this.#body?.drain()) ?? true)
    } finally {
      this.#call.end()
      this.#peer.watch(undefined)
    }
  }

  async #send(answer: Awaited<ReturnType<Call['answer']>>, isReusable: boolean): Promise<boolean> {
    try {
      if (!(answer instanceof Answer)) {
        await answer.send()
        return false
      }
      const reply = new Reply(answer, this.#asked.head.version)
      const persistent = isReusable && reply.isReusable
      await reply.send(this.#peer.output, persistent)
      return persistent
    } catch (error) {
      this.#call.failed(error)
      // The visitor must not take what it has for the whole.
      this.#peer.break(error)
      throw error
    }
  }
}

/** RFC 9110 §7.8: behind 101 the connection is the other protocol's. */
function tunnelOver({ stream }: Peer): Tunnel {
  return {
    stream,
    isKeyed: true,
    open: (fields) => {
      let text = SWITCHING
      for (const [name, value] of fields) text += `${name}: ${value}\r\n`
      return stream.write(encodeLatin1(`${text}\r\n`))
    },
  }
}
