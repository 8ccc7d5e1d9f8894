// Requests full nodes with the relay's HTTP client, behind the `fetch` interface that the chain's library takes.

import { HttpClient } from '../../core/outbound/http-client.ts'

/** Time for a full node's answer in the relay's HTTP client, in milliseconds: more than the facilitator allows. */
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
