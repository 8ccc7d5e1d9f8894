// Negotiates permessage-deflate with the visitor's offer (RFC 7692 §7.1; the list syntax is from RFC 6455 §9.1).

/** The exponent of the largest window (RFC 7692 §7.1.2). */
const WINDOW_BITS_MAX = 15
/**
 * Each message is compressed separately, in both directions: idle connections keep no window, and a page may have many
 * connections. A server may require this of any client (§7.1.1).
 */
const AGREED = 'permessage-deflate; server_no_context_takeover; client_no_context_takeover'

export interface DeflateParameters {
  /** The value of Sec-WebSocket-Extensions that accepts the offer. */
  extensions: string
  /** The exponent of the window that the server may use, 9 to 15. */
  windowBits: number
}

type Parameters = Map<string, string | true>

/**
 * Returns the parameters of the first acceptable offer.
 * @param offered the request's Sec-WebSocket-Extensions, several fields joined by commas
 */
export function negotiateDeflate(offered: string): DeflateParameters | undefined {
  for (const offer of offered.split(',')) {
    const parameters = parseOffer(offer)
    if (!parameters || !isAcceptable(parameters)) continue
    const offeredBits = parameters.get('server_max_window_bits')
    if (offeredBits === undefined) return { extensions: AGREED, windowBits: WINDOW_BITS_MAX }
    // If the visitor requests a window size of the server, the answer must contain one (§7.1.2.1).
    return { extensions: `${AGREED}; server_max_window_bits=${offeredBits}`, windowBits: Number(offeredBits) }
  }
  return undefined
}

/** @returns undefined for another extension, or one with a parameter twice */
function parseOffer(offer: string): Parameters | undefined {
  const [name, ...rest] = offer.split(';').map((part) => part.trim())
  if (name !== 'permessage-deflate') return undefined
  const parameters: Parameters = new Map()
  for (const part of rest) {
    const [key, value] = split(part)
    if (parameters.has(key)) return undefined
    parameters.set(key, value)
  }
  return parameters
}

/** Splits `name`, `name=value` or `name="value"`. */
function split(part: string): [string, string | true] {
  const equals = part.indexOf('=')
  if (equals < 0) return [part, true]
  const value = part.slice(equals + 1).trim()
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"')
  return [part.slice(0, equals).trim(), isQuoted ? value.slice(1, -1) : value]
}

/** Returns false for an offer with an unknown parameter or an invalid value (§7.1). */
function isAcceptable(parameters: Parameters): boolean {
  for (const [name, value] of parameters) {
    if (name === 'server_no_context_takeover' || name === 'client_no_context_takeover') {
      if (value !== true) return false
    } else if (name === 'client_max_window_bits') {
      // The largest window can decode messages of any smaller one.
      if (value !== true && !isWindowBits(value)) return false
      // zlib needs at least 9 bits.
    } else if (name !== 'server_max_window_bits' || !isWindowBits(value) || value === '8') return false
  }
  return true
}

function isWindowBits(value: string | true): boolean {
  return value !== true && /^(?:[89]|1[0-5])$/.test(value)
}
