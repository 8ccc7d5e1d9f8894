// Server-sent events for visitors without WebSocket, and POST for what they say.
import { say } from '../shared/refusals.ts'
import { KEEPALIVE_MS, SENT_MAX_BYTES, WAITING_MAX_BYTES } from './limits.ts'
import type { Member, Room } from './room.ts'

/** Seconds after which a refused visitor tries again: a member may have left by then. */
const RETRY_AFTER_S = '10'

export class EventsEndpoint {
  readonly #room: Room
  /** The members who may post, by the key that comes with the first event. */
  readonly #members: Map<string, Member> = new Map()

  constructor(room: Room) {
    this.#room = room
  }

  open(request: Request): Response {
    const name = new URL(request.url).searchParams.get('name') ?? ''
    const line = new EventLine()
    const member = this.#room.join(name, (event) => line.send(`data: ${JSON.stringify(event)}\n\n`))
    if (!member) {
      line.close()
      return say(request, 503, 'The room is full', {
        headers: { 'Retry-After': RETRY_AFTER_S },
        next: 'Try again in a little while: somebody may have left.',
      })
    }
    const key = crypto.randomUUID()
    this.#members.set(key, member)
    line.send(`event: key\ndata: ${key}\n\n`)
    line.closed.addEventListener('abort', () => {
      this.#members.delete(key)
      member.leave()
    })
    const headers = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' }
    return new Response(line.stream, { headers })
  }

  async receive(request: Request): Promise<Response> {
    const member = this.#members.get(new URL(request.url).searchParams.get('key') ?? '')
    if (!member) return say(request, 403, 'That key is of nobody here')
    const text = await readText(request)
    if (text === undefined) return say(request, 413, 'That is too long')
    member.say(text)
    return new Response(null, { status: 204 })
  }
}

/** A stream that ends when its reader does not keep up. */
class EventLine {
  readonly stream: ReadableStream<Uint8Array>
  readonly #encoder = new TextEncoder()
  readonly #closing = new AbortController()
  #controller!: ReadableStreamDefaultController<Uint8Array>

  constructor() {
    const keepalive = setInterval(() => this.send(':\n\n'), KEEPALIVE_MS)
    this.closed.addEventListener('abort', () => clearInterval(keepalive))
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        cancel: () => this.#closing.abort(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: WAITING_MAX_BYTES }),
    )
  }

  /** Aborts when the visitor left or was removed. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  send(text: string): void {
    if (this.closed.aborted) return
    if ((this.#controller.desiredSize ?? 0) > 0) this.#controller.enqueue(this.#encoder.encode(text))
    else this.close()
  }

  close(): void {
    this.#controller.close()
    this.#closing.abort()
  }
}

/** @returns undefined for a body that is longer than any message */
async function readText({ body }: Request): Promise<string | undefined> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    if (done) return text + decoder.decode()
    bytes += value?.length ?? 0
    if (bytes > SENT_MAX_BYTES) {
      await reader?.cancel()
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}
