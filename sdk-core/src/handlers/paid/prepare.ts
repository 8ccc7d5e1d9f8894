// `POST /x402/prepare`: makes the transaction that a visitor's wallet signs, so that pages need no blockchain library.

import { type Facilitator, PaymentError } from '@svc/payment/client'
import { withTimeout } from '@svc/protocol/timers'
import { PREPARE_MAX_BYTES, PREPARES_AT_ONCE, VERIFY_DEADLINE_MS } from './limits.ts'
import type { Price } from './price-list.ts'
import { OPEN, refused, unavailable } from './responses.ts'

/** The dependencies of `prepare`. */
export interface Preparer {
  facilitator(): Promise<Facilitator>
  /** @returns the price of a request, or undefined when it has none */
  priceOf(url: URL, method: string): Price | undefined
  report(error: unknown): void
}

interface Wanted {
  sender: string
  method: string
  url: URL
}

const RETRY_S = 5
/** The Retry-After of a request that was refused because of too many others, in seconds. */
const BUSY_RETRY_S = 1

/** Transactions that are being prepared in this process. */
let running = 0

export async function prepare(request: Request, preparer: Preparer): Promise<Response> {
  if (request.method !== 'POST')
    return refused(405, 'method_not_allowed', 'A payment is prepared with POST', { Allow: 'POST' })
  const text = await readText(request)
  if (text === undefined)
    return refused(413, 'payload_too_large', `The body has more than ${PREPARE_MAX_BYTES} bytes`)
  const wanted = parse(text, request)
  if (typeof wanted === 'string') return refused(400, 'invalid_request', wanted)
  const price = preparer.priceOf(wanted.url, wanted.method)
  if (price === undefined)
    return refused(404, 'not_paid', `${wanted.method} ${wanted.url.pathname} has no price here`)
  if (running >= PREPARES_AT_ONCE)
    return unavailable('busy', 'Too many payments are being prepared', BUSY_RETRY_S)
  running += 1
  try {
    return await prepared(wanted, price, preparer)
  } finally {
    running -= 1
  }
}

async function prepared({ sender, url }: Wanted, price: Price, preparer: Preparer): Promise<Response> {
  const { requirements: paymentRequirements, description } = price
  try {
    const facilitator = await preparer.facilitator()
    const transactions = await withTimeout(
      facilitator.prepare({ sender, paymentRequirements }),
      VERIFY_DEADLINE_MS,
      () => new PaymentError('facilitator_unavailable', 'the facilitator of payments took too long'),
    )
    const resource = resourceOf(url, description)
    const answer = { x402Version: 2, paymentRequirements, resource, ...transactions }
    return Response.json(answer, { headers: { ...OPEN, 'Cache-Control': 'no-store' } })
  } catch (error) {
    // The visitor's own error, such as an address without money.
    if (error instanceof PaymentError && error.code === 'invalid_request')
      return refused(400, error.reason ?? 'invalid_request', error.message)
    preparer.report(error)
    return unavailable('facilitator_unavailable', 'The payment could not be prepared', RETRY_S)
  }
}

/** Returns the URL of what is sold, without the query, which may contain secrets of the visitor. */
export function resourceOf(
  { origin, pathname }: URL,
  description: string | undefined,
): { url: string; description?: string } {
  return { url: origin + pathname, ...(description !== undefined && { description }) }
}

/** @returns the request, or what is wrong with it */
function parse(text: string, request: Request): Wanted | string {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return 'The body is not JSON'
  }
  if (typeof body !== 'object' || body === null) return 'The body is not a JSON object'
  const { sender, method = 'GET', path = '/' } = body as Record<string, unknown>
  if (typeof sender !== 'string' || sender === '') return 'sender is not an address'
  if (typeof method !== 'string' || !/^[A-Za-z]{1,32}$/.test(method)) return 'method is not a method'
  if (typeof path !== 'string' || !path.startsWith('/')) return 'path is not a path'
  const url = new URL(request.url)
  // Set separately, so that a path such as //other.example stays a path.
  const [pathname = ''] = path.split(/[?#]/, 1)
  url.pathname = pathname
  return { sender, method: method.toUpperCase(), url }
}

/** @returns undefined when the body is too long */
async function readText({ body }: Request): Promise<string | undefined> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    if (bytes > PREPARE_MAX_BYTES) {
      reader.cancel().catch(() => {})
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}
