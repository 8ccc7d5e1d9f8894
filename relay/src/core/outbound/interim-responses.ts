// Bounds the interim responses (1xx, RFC 9110 §15.2) to a request of the relay: a server could send them endlessly.

import type { ClientRequest } from 'node:http'

/** Interim responses (1xx) to one request of the relay. Servers that use them send one or two. */
export const INTERIM_RESPONSES_MAX = 8

/** @param onTooMany is called once, after {@link INTERIM_RESPONSES_MAX}. @default the request fails */
export function boundInterimResponses(
  asked: ClientRequest,
  onTooMany: () => void = () => failRequest(asked),
): void {
  let count = 0
  // Node emits this for 100, too.
  asked.on('information', () => {
    count += 1
    if (count === INTERIM_RESPONSES_MAX + 1) onTooMany()
  })
}

function failRequest(asked: ClientRequest): void {
  // The parser goes on with the bytes that it has: nobody takes an answer in them.
  asked.removeAllListeners('response').removeAllListeners('upgrade')
  asked.destroy(new Error('the server sent too many interim responses'))
}
