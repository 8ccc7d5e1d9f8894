// Header fields on their way through a proxy: what is about one connection stays behind (RFC 9110 §7.6.1).

/** The field Connection names more of them. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]
/** What a visitor could use to claim that it is somebody else. */
export const CLAIMED_FIELDS: readonly string[] = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
]

/** @param others to be dropped as well, in lower case */
export function endToEnd(headers: Headers, others: readonly string[] = []): Headers {
  const named = headers.get('connection')?.toLowerCase().split(',') ?? []
  const dropped = new Set([...HOP_BY_HOP, ...named.map((option) => option.trim()), ...others])
  const kept = new Headers()
  for (const [name, value] of headers) if (!dropped.has(name)) kept.append(name, value)
  return kept
}
