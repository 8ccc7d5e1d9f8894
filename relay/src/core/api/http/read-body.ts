// Reads a request body within bounds of bytes, time and memory.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { RelayError } from '../../errors.ts'
import { discardBody } from '../../http/discard-body.ts'
import type { MemoryShare } from '../../rate-limit/request-memory.ts'
import { parseJson } from './json.ts'

/** The bounds of one body. */
export interface BodyLimits {
  maxBytes: number
  /** Time for the whole body to arrive, in milliseconds. */
  deadlineMs: number
  /** Number of JSON values, if a body may have more than the default of {@link parseJson}. */
  maxValues?: number | undefined
  /** Counts the body's bytes in memory. Released when the body is read or refused. */
  share: MemoryShare
  /** Bounds of a body that begins with a valid token. */
  withToken?: TokenBodyLimits
}

interface TokenBodyLimits {
  maxBytes: number
  /**
   * Checks the beginning of a body.
   * @param beginning the most bytes that a client may send without a valid token
   * @returns the share that counts the body from there on
   * @throws RelayError when there is no valid token among them
   */
  authenticate(beginning: Buffer): MemoryShare
}

/**
 * Reads a body as JSON. When it is refused, the connection ends with `response`.
 * @throws RelayError as {@link readBytes}, and `invalid_json` when the body is not JSON
 */
export async function readJson(
  request: IncomingMessage,
  response: ServerResponse,
  limits: BodyLimits,
): Promise<unknown> {
  const { bytes, release } = await readBytes(request, response, limits)
  try {
    return parseJson(decodeUtf8(bytes), limits.maxValues)
  } finally {
    release()
  }
}

export interface ReceivedBody {
  bytes: Buffer
  /** Ends the use of `bytes`, which count towards the memory of requests until then. */
  release: () => void
}

/**
 * Reads a body as it is. When it is refused, the connection ends with `response`.
 * @throws RelayError `invalid_request` when the body is too large, too slow or ends early, `rate_limited` when bodies take
 * too much of the memory
 */
export async function readBytes(
  request: IncomingMessage,
  response: ServerResponse,
  limits: BodyLimits,
): Promise<ReceivedBody> {
  const body = new Body(limits)
  await receive(request, body, limits.deadlineMs).catch((error) => {
    response.shouldKeepAlive = false
    throw error
  })
  return { bytes: body.bytes, release: () => body.release() }
}

/** The received bytes in one buffer, since a list of one-byte pieces would take more memory than the bytes. */
class Body {
  #maxBytes: number
  #share: MemoryShare
  #withToken: TokenBodyLimits | undefined
  #buffer = Buffer.alloc(0)
  #size = 0

  constructor({ maxBytes, share, withToken }: BodyLimits) {
    this.#maxBytes = maxBytes
    this.#share = share
    this.#withToken = withToken
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#size)
  }

  /** @throws RelayError for a size above the limit */
  requireSize(size: number): void {
    const maxBytes = this.#withToken?.maxBytes ?? this.#maxBytes
    if (size > maxBytes) throw refused(`the body is larger than ${maxBytes} bytes`)
  }

  /** Adds received bytes. @throws RelayError for a refused body */
  add(chunk: Buffer): void {
    const size = this.#size + chunk.length
    this.requireSize(size)
    if (size > this.#maxBytes && this.#withToken) {
      const { maxBytes, authenticate } = this.#withToken
      const share = authenticate(Buffer.concat([this.bytes, chunk]).subarray(0, this.#maxBytes))
      this.#share.release()
      this.#share = share
      this.#maxBytes = maxBytes
      this.#withToken = undefined
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

function receive(request: IncomingMessage, body: Body, deadlineMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (outcome: () => void) => {
      clearTimeout(deadline)
      request.off('data', onData).off('end', onEnd).off('close', onClose)
      outcome()
    }
    const refuse = (error: unknown) => {
      body.release()
      settle(() => void discardBody(request).then(() => reject(error)))
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
    const deadline = setTimeout(() => refuse(refused('the body took too long')), deadlineMs)
    request.on('error', () => {})
    request.on('data', onData).on('end', onEnd).on('close', onClose)
    attempt(() => body.requireSize(Number(request.headers['content-length'] ?? 0)))
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
