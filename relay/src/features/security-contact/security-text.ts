// The file `security.txt` (RFC 9116).

import { sendBody } from '../../core/api/http/body-response.ts'
import type { BodyWriter } from '../../core/api/http/body-writer.ts'
import { getAndHead, type Routing } from '../../core/api/http/server.ts'

const PATH = '/.well-known/security.txt'
/** Days for which the file is right; RFC 9116, §2.5.5 recommends less than a year. */
const VALID_DAYS = 90
const DAY_MS = 86_400_000

export function securityTextRoute(writer: BodyWriter, contacts: readonly string[], origin: string): Routing {
  return {
    [PATH]: getAndHead(async (request, response) => {
      const text = Buffer.from(securityText(contacts, origin, Date.now()))
      await sendBody(writer, request, response, text, {
        content: { 'Content-Type': 'text/plain; charset=utf-8' },
        common: { 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' },
      })
    }),
  }
}

/** Returns the file. It is the same for a day. */
export function securityText(contacts: readonly string[], origin: string, nowMs: number): string {
  const expires = new Date((Math.floor(nowMs / DAY_MS) + VALID_DAYS) * DAY_MS)
  const fields = [
    ...contacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${expires.toISOString().replace('.000', '')}`,
    `Canonical: ${origin}${PATH}`,
  ]
  return `${fields.join('\n')}\n`
}
