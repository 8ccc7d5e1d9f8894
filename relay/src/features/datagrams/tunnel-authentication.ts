// Authenticates a tunnel on its first stream: reads the token, answers it, then echoes heartbeats.

import type { Duplex } from 'node:stream'
import {
  type ErrorCode,
  TUNNEL_CLOSE,
  TUNNEL_HELLO_MAX_BYTES,
  TUNNEL_KEEPALIVE_MS,
  type TunnelAnswer,
  type TunnelHello,
} from '@svc/protocol'
import { z } from '../../core/config/schema.ts'
import { CLOSE_GRACE_MS } from '../../core/ingress/open-sockets.ts'
import { TUNNEL_STREAM_MAX_BYTES } from './limits.ts'

export interface TunnelAuthenticationEvents {
  /** @returns the error of a refused hello; undefined when the tunnel is admitted */
  admit(hello: TunnelHello): ErrorCode | undefined
  /** Called when the connection has to be closed. */
  fail(code: number, reason: string): void
}

/** Stands for a hello that is too long; no schema accepts it. */
const TOO_LONG = null
const HELLO: z.ZodType<TunnelHello> = z.object({
  access_token: z.string(),
  aggregates: z.boolean().optional(),
})

export class TunnelAuthentication {
  readonly #stream: Duplex
  readonly #events: TunnelAuthenticationEvents
  #hello: Buffer = Buffer.alloc(0)
  #isAnswered = false
  #isAdmitted = false
  /** Bytes of heartbeats in the current interval, and its start. */
  #echoedBytes = 0
  #echoedSince = 0

  constructor(stream: Duplex, events: TunnelAuthenticationEvents) {
    this.#stream = stream
    this.#events = events
    stream.on('error', () => {})
    stream.on('data', (bytes: Buffer) => (this.#isAdmitted ? this.#echo(bytes) : this.#read(bytes)))
    stream.on('end', () => {
      if (!this.#isAdmitted) this.#refuse('invalid_json')
    })
  }

  #read(bytes: Buffer): void {
    if (this.#isAnswered) return
    this.#hello = Buffer.concat([this.#hello, bytes])
    const isTooLong = this.#hello.length > TUNNEL_HELLO_MAX_BYTES
    const value = isTooLong ? TOO_LONG : parseWhole(this.#hello.toString())
    if (value === undefined) return
    const hello = HELLO.safeParse(value)
    const refusal = hello.success ? this.#events.admit(hello.data) : 'invalid_request'
    this.#hello = Buffer.alloc(0)
    if (refusal === undefined) {
      this.#isAdmitted = true
      const { aggregates } = hello.data!
      this.#answer({ ok: true, heartbeat: true, ...(aggregates && { aggregates }) })
    } else this.#refuse(refusal)
  }

  #refuse(error: ErrorCode): void {
    if (this.#isAnswered) return
    this.#answer({ ok: false, error })
    this.#stream.end()
    // An immediate close would overtake the answer.
    setTimeout(() => this.#events.fail(TUNNEL_CLOSE.refused, error), CLOSE_GRACE_MS).unref()
  }

  #answer(answer: TunnelAnswer): void {
    this.#isAnswered = true
    this.#stream.write(JSON.stringify(answer))
  }

  #echo(bytes: Buffer): void {
    const now = performance.now()
    if (now - this.#echoedSince > TUNNEL_KEEPALIVE_MS) {
      this.#echoedBytes = 0
      this.#echoedSince = now
    }
    this.#echoedBytes += bytes.length
    const isTooMuch = Math.max(this.#echoedBytes, this.#stream.writableLength) > TUNNEL_STREAM_MAX_BYTES
    if (isTooMuch) this.#events.fail(TUNNEL_CLOSE.violation, 'more than heartbeats on the stream')
    else this.#stream.write(bytes)
  }
}

/** @returns undefined when the text is not complete JSON yet, since more may follow */
function parseWhole(text: string): unknown {
  if (!text.trimEnd().endsWith('}')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
