// A visitor for tests: sends literal frames to a server in memory and reads its frames back.

import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import type { HttpOptions } from '../../src/exchange/http-options.ts'
import { HpackDecoder } from '../../src/hpack/decoder.ts'
import { serveHttp2 } from '../../src/http2/connection.ts'
import { MemoryStream } from '../support/memory-stream.ts'
import {
  DATA,
  describeFrame,
  END_HEADERS,
  END_STREAM,
  type Frame,
  HEADERS,
  PREFACE,
  settings,
} from './wire.ts'

export interface Response {
  status: string
  headers: Record<string, string>
  body: string
}

/** Lets everything that does not wait for a timer happen. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export class Visitor {
  readonly stream: MemoryStream
  /** The server's end of the connection. */
  readonly server: MemoryStream
  /** Settles when the server is done with the connection. */
  readonly served: Promise<void>
  readonly requests: Request[] = []
  readonly errors: unknown[] = []
  readonly #decoder = new HpackDecoder()
  #received: Buffer = Buffer.alloc(0)

  constructor(fetch: FetchHandler = () => new Response('ok'), options: Partial<HttpOptions> = {}) {
    ;[this.stream, this.server] = MemoryStream.pair()
    this.served = serveHttp2(this.server, {
      fetch: (request, info) => {
        this.requests.push(request)
        return fetch(request, info)
      },
      isOwnHost: (host) => host === 'site.example',
      canonicalUrl: 'https://site.example/',
      onError: (error) => this.errors.push(error),
      ...options,
    })
  }

  /** With both prefaces exchanged. @param first the SETTINGS of the visitor */
  static async open(
    fetch?: FetchHandler,
    options?: Partial<HttpOptions>,
    first: Uint8Array = settings(),
  ): Promise<Visitor> {
    const visitor = new Visitor(fetch, options)
    await visitor.send(PREFACE, first)
    for (const expected of ['SETTINGS', 'WINDOW_UPDATE 0 983041', 'SETTINGS ack']) {
      const text = await visitor.next()
      if (text !== expected) throw new Error(`${text} came in the place of ${expected}`)
    }
    return visitor
  }

  async send(...parts: Uint8Array[]): Promise<this> {
    for (const part of parts) await this.stream.write(part).catch(() => {})
    return this
  }

  end(): Promise<void> {
    return this.stream.end()
  }

  /** The next frame; undefined when the server ended its direction. */
  async frame(): Promise<Frame | undefined> {
    for (;;) {
      const bytes = this.#received
      const length = bytes.length < 9 ? undefined : bytes.readUIntBE(0, 3)
      if (length !== undefined && bytes.length >= 9 + length) {
        this.#received = bytes.subarray(9 + length)
        const frame: Frame = {
          type: bytes[3]!,
          flags: bytes[4]!,
          id: bytes.readUInt32BE(5),
          payload: bytes.subarray(9, 9 + length),
          fields: {},
        }
        if (frame.type === HEADERS && frame.flags & END_HEADERS) frame.fields = this.#decode(frame.payload)
        return frame
      }
      const more = await this.stream.read()
      if (!more) return undefined
      this.#received = Buffer.concat([this.#received, more])
    }
  }

  /** What the next frame says, or `end`. */
  async next(): Promise<string> {
    const frame = await this.frame()
    return frame ? describeFrame(frame) : 'end'
  }

  /** Reads up to the first frame that says so. @returns it and what came before */
  async until(expected: string | RegExp): Promise<string[]> {
    const seen: string[] = []
    for (;;) {
      const text = await this.next()
      seen.push(text)
      if (typeof expected === 'string' ? text === expected : expected.test(text)) return seen
      if (text === 'end') throw new Error(`${expected} did not come, but ${seen.join(', ')}`)
    }
  }

  /** What came on a stream up to its end; frames of other streams are passed over. */
  async response(id: number): Promise<Response> {
    const response: Response = { status: '', headers: {}, body: '' }
    for (;;) {
      const frame = await this.frame()
      if (!frame) throw new Error('the connection ended before the response did')
      if (frame.id !== id) continue
      if (frame.type === HEADERS) {
        response.status = frame.fields[':status']!
        response.headers = frame.fields
      } else if (frame.type === DATA) response.body += frame.payload.toString('latin1')
      else if (frame.type !== HEADERS)
        throw new Error(`${describeFrame(frame)} came before the response ended`)
      if (frame.flags & END_STREAM) return response
    }
  }

  #decode(block: Uint8Array): Record<string, string> {
    const fields: Record<string, string> = {}
    this.#decoder.decode(block, (name, value) => {
      if (name !== 'date') fields[name] = name in fields ? `${fields[name]}\n${value}` : value
    })
    return fields
  }
}

/** How the server ends the connection after `bytes`, which follow the prefaces: its last frame. */
export async function endOf(...bytes: Uint8Array[]): Promise<string> {
  const visitor = await Visitor.open()
  await visitor.send(...bytes)
  const seen = await visitor.until('end')
  if (visitor.requests.length > 0) throw new Error('a handler was called')
  await visitor.end()
  await visitor.served
  return seen.at(-2)!
}
