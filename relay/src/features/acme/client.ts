// Speaks ACME (RFC 8555) with the library acme-client over the relay's own transport. The only importer of that
// library.

import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { retryAfterOf } from '@svc/node-kit/http'
import { oneLine } from '@svc/protocol/acme'
import { axios, Client, crypto } from 'acme-client'
import { AcmeError } from './authority.ts'
import { ORDER_DEADLINE_MS, POLL_FIRST_MS, POLL_MAX_MS, POLL_RETRY_AFTER_MAX_MS } from './limits.ts'
import { AcmeProblem } from './problem.ts'
import type { AcmeTransport } from './transport.ts'

/** The context of one caller, which the library does not pass through to the transport. */
export interface Exchange {
  transport: AcmeTransport
  signal: AbortSignal
  /** Retry-After of the last answer, in milliseconds. */
  retryAfterMs?: number | undefined
}

const BAD_REQUEST = 400
const BAD_NONCE = 'badNonce'
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/

const exchanges = new AsyncLocalStorage<Exchange>()

axios.defaults.adapter = async (config) => {
  const exchange = exchanges.getStore()
  if (exchange === undefined || config.url === undefined) throw new TypeError('a request needs its exchange')
  const { url, data } = config
  const { status, headers, body } = await exchange.transport.send(url, {
    method: config.method?.toUpperCase() as 'GET' | 'HEAD' | 'POST',
    ...(data && { headers: { 'Content-Type': 'application/jose+json' }, body: data as string }),
    signal: exchange.signal,
  })
  exchange.retryAfterMs = retryAfterOf(headers)
  const text = body.toString()
  if (status >= BAD_REQUEST) {
    const problem = new AcmeProblem(parse(text), status, exchange.retryAfterMs)
    // The library takes the new nonce of this answer and tries again.
    if (problem.type !== BAD_NONCE) throw problem
  }
  const isJson = JSON_TYPE.test(headers['content-type'] ?? '')
  return {
    data: isJson ? parse(text) : text,
    status,
    statusText: '',
    headers: headers as Record<string, string>,
    config,
  }
}

export type { Authorization, Order } from 'acme-client'
export { Client as AcmeClient }

/** Calls the library. @throws AcmeProblem, AcmeError, or the signal's reason */
export function exchange<T>(with_: Exchange, call: () => Promise<T>): Promise<T> {
  return exchanges.run(with_, async () => {
    try {
      return await call()
    } catch (error) {
      with_.signal.throwIfAborted()
      if (error instanceof AcmeProblem || error instanceof AcmeError) throw error
      // The library's message may contain the whole answer.
      const why = oneLine((error as Error).message)
      throw new AcmeError('unusable', `the ACME authority's answer cannot be used: ${why}`, { cause: error })
    }
  })
}

/** Polls with `look` until `isDone`, as often as the authority asks for. Rejects as `look` does. */
export async function poll<T>(
  with_: Exchange,
  look: () => Promise<T>,
  isDone: (seen: T) => boolean,
): Promise<T> {
  const until = performance.now() + ORDER_DEADLINE_MS
  for (let pauseMs = POLL_FIRST_MS; ; pauseMs = Math.min(2 * pauseMs, POLL_MAX_MS)) {
    const seen = await look()
    if (isDone(seen)) return seen
    if (performance.now() > until)
      throw new AcmeError('unreachable', 'the ACME authority does not finish the order')
    const asked = Math.min(with_.retryAfterMs ?? 0, POLL_RETRY_AFTER_MAX_MS)
    await pause(Math.max(pauseMs, asked), undefined, { signal: with_.signal })
  }
}

/** @returns a request for these names, DER. @param key PEM */
export async function createRequest(names: readonly string[], key: string): Promise<Uint8Array> {
  const [, pem] = await crypto.createCsr({ altNames: [...names] }, key)
  return Buffer.from(crypto.getPemBodyAsB64u(pem), 'base64url')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
