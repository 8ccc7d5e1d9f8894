// Asks full nodes with the relay's HTTP client, in the form of `fetch`, which the library of the chain takes.

import { HttpClient } from '../../core/outbound/http-client.ts'

/** Milliseconds that a full node has for an answer, in the relay's HTTP client: more than the facilitator gives it. */
const PAYMENT_NODE_DEADLINE_MS = 20_000

/** @param endpoints URLs from the operator's settings, which may be at any address */
export function createNodeFetch(endpoints: readonly string[]): typeof fetch {
  const client = new HttpClient({ configuredOrigins: endpoints.map((url) => new URL(url).origin) })
  return async (input, init) => {
    const body = init?.body
    const {
      status,
      headers,
      body: received,
    } = await client.request(String(input), {
      method: 'POST',
      headers: Object.fromEntries(new Headers(init?.headers)),
      ...(typeof body === 'string' || body instanceof Uint8Array ? { body } : {}),
      isConfigured: true,
      deadlineMs: PAYMENT_NODE_DEADLINE_MS,
      ...(init?.signal ? { signal: init.signal } : {}),
    })
    const named = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
    return new Response(new Uint8Array(received), { status, headers: named })
  }
}
