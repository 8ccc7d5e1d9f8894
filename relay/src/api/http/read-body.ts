// Reads a request body: bounded in bytes, in time, and in what all bodies may take of the memory.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { BODY_DEADLINE_MS } from '@svc/protocol'
import { RelayError } from '../../errors.ts'
import { DISCARDED_BODY_MAX_BYTES, DISCARDED_BODY_MS } from '../../limits.ts'
import type { MemoryShare } from '../../rate-limit/request-memory.ts'
import { parseJson } from './json.ts'

/** What a body may take. */
export interface BodyLimits {
  maxBytes: number
  /** Counts what is in memory; it is released when the body is read, or refused. */
  share: MemoryShare
  /** A body that begins with a proof of who sends it may be larger. */
  proven?: ProvenBounds
}

interface ProvenBounds {
  maxBytes: number
  /**
   * @param beginning as many bytes as may come without proof
   * @returns what counts the body from there on
   * @throws RelayError when there is no proof among them
   */
  prove(beginning: Buffer): MemoryShare
}

/**
 * When a body is refused, the connection ends with `response`.
 * @throws RelayError `invalid_request` when the body is too large or too slow, `invalid_json` when it is not JSON,
 * `rate_limited` when bodies take too much of the memory
 */
export async function readJson(
  request: IncomingMessage,
  response: ServerResponse,
  bounds: BodyLimits,
): Promise<unknown> {
  const body = new Body(bounds)
  try {
    await receive(request, body).catch((error) => {
      response.shouldKeepAlive = false
      throw error
    })
    return parseJson(decodeUtf8(body.bytes))
  } finally {
    body.release()
  }
}

/** The bytes so far, in one buffer: a list of pieces would cost more than they do, when they come one by one. */
class Body {
  #maxBytes: number
  #share: MemoryShare
  #proven: ProvenBounds | undefined
  #buffer = Buffer.alloc(0)
  #size = 0

  constructor({ maxBytes, share, proven }: BodyLimits) {
    this.#maxBytes = maxBytes
    this.#share = share
    this.#proven = proven
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#size)
  }

  /** @throws RelayError when a body of that size is refused whatever is in it */
  require(size: number): void {
    const maxBytes = this.#proven?.maxBytes ?? this.#maxBytes
    if (size > maxBytes) throw refused(`the body is larger than ${maxBytes} bytes`)
  }

  /** @throws RelayError */
  add(chunk: Buffer): void {
    const size = this.#size + chunk.length
    this.require(size)
    if (size > this.#maxBytes && this.#proven) {
      const { maxBytes, prove } = this.#proven
      const share = prove(Buffer.concat([this.bytes, chunk]).subarray(0, this.#maxBytes))
      this.#share.release()
      this.#share = share
      this.#maxBytes = maxBytes
      this.#proven = undefined
    }
    this.#reserve(size)
    chunk.copy(this.#buffer, this.#size)
    this.#size = size
  }

  release(): void {
    this.#share.release()
    this.#buffer = Buffer.alloc(0)
  }

  #reserve(size: number): void {
    if (size <= this.#buffer.length) return
    const capacity = Math.min(Math.max(size, 2 * this.#buffer.length), this.#maxBytes)
    this.#share.resize(capacity)
    const larger = Buffer.allocUnsafeSlow(capacity)
    this.bytes.copy(larger)
    this.#buffer = larger
  }
}

function receive(request: IncomingMessage, body: Body): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (outcome: () => void) => {
      clearTimeout(deadline)
      request.off('data', onData).off('end', onEnd).off('close', onClose)
      outcome()
    }
    const refuse = (error: unknown) => {
      body.release()
      settle(() => void discardRest(request).then(() => reject(error)))
    }
    const attempt = (step: () => void) => {
      try {
        step()
      } catch (error) {
        refuse(error)
      }
    }
    const onData = (chunk: Buffer) => attempt(() => body.add(chunk))
    const onEnd = () => settle(resolve)
    const onClose = () => refuse(refused('the body ended early'))
    const deadline = setTimeout(() => refuse(refused('the body took too long')), BODY_DEADLINE_MS)
    request.on('error', () => {})
    request.on('data', onData).on('end', onEnd).on('close', onClose)
    attempt(() => body.require(Number(request.headers['content-length'] ?? 0)))
  })
}

/**
 * Whoever is still sending when the connection closes does not get to see the answer. So what is on its way is read and
 * dropped, in bounds.
 */
function discardRest(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let left = DISCARDED_BODY_MAX_BYTES
    const settle = () => {
      clearTimeout(deadline)
      request.off('data', onData).off('end', settle).off('close', settle)
      request.pause()
      resolve()
    }
    const onData = ({ length }: Buffer) => {
      left -= length
      if (left < 0) settle()
    }
    const deadline = setTimeout(settle, DISCARDED_BODY_MS)
    if (request.readableEnded || request.destroyed) settle()
    else request.on('data', onData).on('end', settle).on('close', settle)
  })
}

function refused(message: string): RelayError {
  return new RelayError('invalid_request', message)
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new RelayError('invalid_json', 'the body is not UTF-8')
  }
}
