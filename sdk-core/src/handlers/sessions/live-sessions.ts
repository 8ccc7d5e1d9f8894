// Ends a session's open WebSockets, server-sent events and other responses when the session ends.

import { TIMER_MAX_MS } from '@svc/protocol/timers'
import type { VisitorSocket } from '../../websocket/visitor-socket.ts'
import type { Session } from './sessions.ts'

/** RFC 6455 §7.4.1, "policy violation": frameworks close with it when a session is over. */
const POLICY_VIOLATION = 1008
const REASON = 'the session has ended'

/** A Use is one running exchange of a session. */
export interface Use {
  /** Aborted when the session ends. */
  readonly signal: AbortSignal
  /** Marks the exchange as over. */
  end(): void
  /** Returns another use of the same session, which has ended when this one has. */
  again(): Use
}

interface Live {
  session: Session
  controller: AbortController
  timer: ReturnType<typeof setTimeout> | undefined
  uses: number
}

/** LiveSessions knows the sessions that have running exchanges. */
export class LiveSessions {
  readonly #live = new Map<string, Live>()

  use(session: Session): Use {
    const { id } = session
    let live = this.#live.get(id)
    if (!live) {
      live = { session, controller: new AbortController(), timer: undefined, uses: 0 }
      this.#live.set(id, live)
      this.#endInTime(live)
    }
    return this.#useOf(id, live)
  }

  /** Ends all exchanges of the sessions for which `isOver` returns true. */
  endThose(isOver: (session: Session) => boolean): void {
    for (const [id, { session }] of this.#live) if (isOver(session)) this.end(id)
  }

  /** Returns whether the session has running exchanges. */
  has(id: string): boolean {
    return this.#live.has(id)
  }

  /** Ends all exchanges of the session. */
  end(id: string): void {
    const live = this.#live.get(id)
    if (!live) return
    this.#live.delete(id)
    clearTimeout(live.timer)
    live.controller.abort(new DOMException(REASON, 'AbortError'))
  }

  #endInTime(live: Live): void {
    const { id, expiresAt } = live.session
    const wait = expiresAt - Date.now()
    const next = (): void => (wait > TIMER_MAX_MS ? this.#endInTime(live) : this.end(id))
    live.timer = setTimeout(next, Math.min(wait, TIMER_MAX_MS))
  }

  #useOf(id: string, used: Live): Use {
    used.uses += 1
    let isOver = false
    const end = (): void => {
      if (isOver) return
      isOver = true
      used.uses -= 1
      if (used.uses > 0) return
      clearTimeout(used.timer)
      if (this.#live.get(id) === used) this.#live.delete(id)
    }
    return { signal: used.controller.signal, end, again: () => this.#useOf(id, used) }
  }
}

/** Closes the socket when the session ends. */
export function endSocketWith(socket: VisitorSocket, use: Use): void {
  const close = (): void => {
    // A socket that is still connecting is closed as soon as it is open.
    if (socket.readyState === 0) socket.addEventListener('open', close, { once: true })
    else socket.close(POLICY_VIOLATION, REASON)
  }
  if (use.signal.aborted) close()
  use.signal.addEventListener('abort', close, { once: true })
  socket.addEventListener('close', () => {
    use.signal.removeEventListener('abort', close)
    use.end()
  })
}

/**
 * Ends the response's body when the session ends. Server-sent events end normally, so that their reader reconnects and is refused; any
 * other body is aborted, so that nobody mistakes a part for the whole.
 * @returns `response` itself
 */
export function endBodyWith(response: Response, use: Use): Response {
  if (!response.body) {
    use.end()
    return response
  }
  const reader = response.body.getReader()
  const isEvents = response.headers.get('content-type')?.toLowerCase().startsWith('text/event-stream')
  const { signal } = use
  let stop: (() => void) | undefined
  const end = (): void => {
    if (stop) signal.removeEventListener('abort', stop)
    stop = undefined
    use.end()
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stop = () => {
          end()
          reader.cancel(signal.reason).catch(() => {}) // Ignores a failed clean-up of the handler.
          if (isEvents) controller.close()
          else controller.error(signal.reason)
        }
        signal.addEventListener('abort', stop, { once: true })
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!stop) return
          if (!done) return controller.enqueue(value)
          controller.close()
        } catch (error) {
          if (stop) controller.error(error)
        }
        end()
      },
      cancel(reason) {
        end()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return Object.defineProperty(response, 'body', { value: body, configurable: true })
}
