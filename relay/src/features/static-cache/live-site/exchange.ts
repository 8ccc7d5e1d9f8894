// Forwards one request of a visitor to a live site, and the response back, both as they arrive.

import { type ClientRequest, type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { boundInterimResponses } from '../../../core/outbound/interim-responses.ts'
import type { LiveSlot } from './admission.ts'
import type { SiteAgent } from './agent.ts'
import { SiteAway, type SiteClient, SiteUntrusted } from './connector.ts'
import { copyBody } from './copy-body.ts'
import {
  endToEndTrailers,
  http2Fields,
  isRepeatable,
  pairs,
  responseFields,
  type SiteRequest,
} from './fields.ts'
import { LIVE_BODY_MIN_BYTES, type LiveDeadlines } from './limits.ts'
import type { VisitorRequest, VisitorResponse } from './live-sites.ts'
import { abortResponse, clearHead, end, hasLeft, sendText, stopReading } from './visitor-response.ts'

/** The outcome of an attempt. */
type Outcome = 'done' | 'away' | 'dead connection'

export interface Exchange {
  request: VisitorRequest
  response: VisitorResponse
  /** The request as the site gets it. */
  passed: SiteRequest
  client: SiteClient
  deadlines: LiveDeadlines
  slot: LiveSlot
}

/** Resolves at the end of the exchange, with false when no session came. */
export async function passOn(exchange: Exchange, agent: SiteAgent): Promise<boolean> {
  const first = await new Attempt(exchange, agent).outcome
  if (first !== 'dead connection') return first === 'done'
  // The site had closed or lost the kept connection. The client's other idle ones are likely dead, too.
  agent.drop(exchange.client)
  const second = await new Attempt(exchange, agent).outcome
  return second !== 'away'
}

class Attempt {
  readonly outcome: Promise<Outcome>
  readonly #exchange: Exchange
  readonly #upstream: ClientRequest
  readonly #settle: (outcome: Outcome) => void
  /** Runs from the connection until the site answers. */
  #silence: NodeJS.Timeout | undefined
  #sent = 0
  /** Bytes of the body since the deadline was last put off. */
  #sinceRefresh = 0
  #isContinued = false
  #isAnswered = false

  constructor(exchange: Exchange, agent: SiteAgent) {
    this.#exchange = exchange
    const { passed, client, response, slot } = exchange
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    this.outcome = promise
    this.#upstream = agent.request(client, passed)
    const onLeft = (): void => this.#onLeft()
    const onCut = (): void => this.#fail()
    response.once('close', onLeft)
    slot.cut.signal.addEventListener('abort', onCut, { once: true })
    this.#settle = (outcome) => {
      clearTimeout(this.#silence)
      slot.cut.signal.removeEventListener('abort', onCut)
      response.off('close', onLeft)
      resolve(outcome)
    }
    this.#upstream
      .on('socket', () => this.#sendBody())
      .on('continue', () => this.#sayContinue())
      .on('upgrade', (_answer, site: Duplex) => this.#onUnaskedUpgrade(site))
      .on('response', (answer: IncomingMessage) => this.#receive(answer))
      .on('error', (error) => this.#onError(error))
    boundInterimResponses(this.#upstream, () => this.#onTooManyInterim())
    if (hasLeft(response)) onLeft()
  }

  /** Begins once there is a connection: nothing of the request may be read before. */
  #sendBody(): void {
    const { request, passed, deadlines } = this.#exchange
    const upstream = this.#upstream
    this.#silence = setTimeout(() => this.#onSilence(), deadlines.responseMs)
    if (!passed.hasBody) {
      upstream.end()
      return
    }
    upstream.flushHeaders()
    request
      .on('data', this.#onData)
      .once('end', this.#onEnd)
      .once('error', this.#onBroken)
      .once('aborted', this.#onBroken)
    upstream.on('drain', this.#onDrain)
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#countBody(chunk.length)
    const { length } = this.#exchange.passed
    if (length !== undefined && this.#sent > length) this.#onBroken()
    else if (!this.#upstream.write(chunk)) this.#exchange.request.pause()
  }

  /** A visitor cannot hold a slot by sending single bytes now and then. */
  #countBody(bytes: number): void {
    this.#sent += bytes
    this.#sinceRefresh += bytes
    if (this.#sinceRefresh < LIVE_BODY_MIN_BYTES) return
    this.#sinceRefresh = 0
    this.#silence?.refresh()
  }

  readonly #onDrain = (): void => {
    this.#silence?.refresh()
    this.#exchange.request.resume()
  }

  readonly #onEnd = (): void => {
    this.#silence?.refresh()
    const { request, passed } = this.#exchange
    if (passed.length !== undefined && this.#sent < passed.length) {
      this.#onBroken()
      return
    }
    try {
      const trailers = endToEndTrailers(request.rawTrailers)
      if (passed.length === undefined) this.#upstream.addTrailers([...pairs(trailers)])
      this.#upstream.end()
    } catch {
      this.#answer(400, 'The trailers are malformed.')
    }
  }

  /** The visitor did not send what it announced: the site must not take the request for complete. */
  readonly #onBroken = (): void => {
    this.#upstream.destroy()
  }

  #detachBody(): void {
    const { request } = this.#exchange
    request.off('data', this.#onData).off('end', this.#onEnd)
    request.off('error', this.#onBroken).off('aborted', this.#onBroken)
  }

  /**
   * Sends it once, and only to a visitor who waits for it: Node writes each at once, whether the visitor reads or not.
   */
  #sayContinue(): void {
    const { request, response } = this.#exchange
    if (this.#isAnswered || this.#isContinued || this.#sent > 0 || !waitsForContinue(request)) return
    this.#isContinued = true
    if (!hasLeft(response)) response.writeContinue()
  }

  /** Interim responses do not extend a site's deadline. */
  #onTooManyInterim(): void {
    if (!this.#isAnswered) this.#answer(502, 'The site sent too many interim responses.')
  }

  #onUnaskedUpgrade(site: Duplex): void {
    site.destroy()
    if (!this.#isAnswered) this.#answer(502, 'The site changed the protocol, which nobody had asked for.')
  }

  #receive(answer: IncomingMessage): void {
    // The parser continues with what had arrived before the connection was destroyed.
    if (this.#isAnswered) return
    clearTimeout(this.#silence)
    this.#isAnswered = true
    const { response, request, slot } = this.#exchange
    slot.heard()
    try {
      writeHead(response, answer, request)
    } catch {
      // Node refuses statuses and fields that it cannot write, and keeps those set before.
      this.#upstream.destroy()
      clearHead(response)
      this.#answer(502, "The site's response is malformed.")
      return
    }
    copyBody(answer, this.#exchange)
      .then(() => this.#finish())
      .catch(() => this.#fail())
  }

  async #finish(): Promise<void> {
    const { request, passed, deadlines } = this.#exchange
    // The rest of the request's body is no longer needed.
    if (passed.hasBody && !request.readableEnded) {
      this.#detachBody()
      await stopReading(request, deadlines.discardMs)
      this.#upstream.destroy()
    }
    await end(this.#exchange)
    this.#settle('done')
  }

  /** A response that lacks its end must not look complete. */
  #fail(): void {
    this.#upstream.destroy()
    abortResponse(this.#exchange.response)
    this.#settle('done')
  }

  #onLeft(): void {
    this.#detachBody()
    this.#upstream.destroy()
    this.#settle('done')
  }

  #onSilence(): void {
    const { request, passed } = this.#exchange
    const isVisitors = passed.hasBody && !request.readableEnded && !request.isPaused()
    if (isVisitors) this.#answer(408, 'The rest of the request did not come.')
    else this.#answer(504, 'The site did not answer in time.')
  }

  #onError(error: NodeJS.ErrnoException): void {
    const { response, passed } = this.#exchange
    if (this.#isAnswered || hasLeft(response)) return
    this.#detachBody()
    if (error instanceof SiteAway) this.#settle('away')
    else if (error instanceof SiteUntrusted)
      this.#answer(502, 'The certificate of this site cannot be trusted, so the request was not passed on.')
    else if (this.#upstream.reusedSocket && isRepeatable(passed)) this.#settle('dead connection')
    else this.#answer(502, 'The connection to the site broke before it answered.')
  }

  #answer(status: number, text: string): void {
    this.#isAnswered = true
    clearTimeout(this.#silence)
    this.#detachBody()
    this.#upstream.destroy()
    sendText(this.#exchange, status, text)
      .catch(() => abortResponse(this.#exchange.response))
      .then(() => this.#settle('done'))
  }
}

/** @throws Error for a status or a field that Node refuses to write */
function writeHead(response: VisitorResponse, answer: IncomingMessage, request: VisitorRequest): void {
  const { statusCode = 502, statusMessage = '' } = answer
  const fields = responseFields(answer, request)
  if ('stream' in response) response.writeHead(statusCode, http2Fields(fields))
  else {
    // After an early response, nobody reads the rest of the request's body.
    if (!request.complete) response.shouldKeepAlive = false
    const reason = isReason(statusMessage) ? statusMessage : (STATUS_CODES[statusCode] ?? '')
    response.writeHead(statusCode, reason, fields)
  }
}

/** RFC 9112 §4: Node's client accepts more than a reason phrase may have. */
function isReason(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
}

/** RFC 9110 §10.1.1. */
function waitsForContinue({ headers, httpVersion }: VisitorRequest): boolean {
  return httpVersion !== '1.0' && headers.expect?.trim().toLowerCase() === '100-continue'
}
