// Parses the Retry-After of a response.

import type { IncomingHttpHeaders } from 'node:http'

/** @returns milliseconds, 0 for a time that has passed; undefined without a valid field (RFC 9110 §10.2.3) */
export function retryAfterOf({ 'retry-after': asked = '' }: IncomingHttpHeaders): number | undefined {
  const text = asked.trim()
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
