// What each ACME client shares (RFC 8555, RFC 8737, RFC 9773), without I/O: the relay's, for its own names, and that of a site with
// custom domains.

/** The protocol of ALPN in which an authority validates a name by `tls-alpn-01` (RFC 8737 §6.2). */
export const ACME_TLS_ALPN = 'acme-tls/1'
/** A message takes this many UTF-16 code units from an answer of an authority. */
export const ACME_DETAIL_MAX_CHARS = 300

const NAMESPACE = 'urn:ietf:params:acme:error:'
/** A certificate is renewed when this share of its lifetime is left. */
const SHARE_LEFT: number = 1 / 3
/**
 * An authority may ask for a renewal only after this share of the lifetime: otherwise a wrong answer would cause a
 * loop.
 */
const EARLIEST_SHARE = 0.1
const EARLIEST_MAX_MS = 3_600_000

/** Returns the type of a problem document without its namespace, such as `rateLimited`; empty when it has none. */
export function acmeProblemType(document: unknown): string {
  const { type } = Object(document)
  return typeof type === 'string' && type.startsWith(NAMESPACE) ? type.slice(NAMESPACE.length) : ''
}

/** Returns the detail of a problem document in one line, with those of its subproblems (RFC 8555 §6.7.1). */
export function acmeProblemDetail(document: unknown): string {
  const { detail, subproblems } = Object(document)
  const parts = Array.isArray(subproblems) ? subproblems.map((one) => Object(one).detail) : []
  return oneLine([detail, ...parts].filter((text) => typeof text === 'string').join('; '))
}

/** Returns a text of an authority for use in a message: without control characters, and shortened. */
export function oneLine(text: string): string {
  return text
    .replace(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, ACME_DETAIL_MAX_CHARS)
}

/** A CertificateValidity is that of a leaf, in milliseconds of the wall clock. */
export interface CertificateValidity {
  notBefore: number
  notAfter: number
}

/** Returns the time of a renewal without an authority's advice: a third of the lifetime before its end. */
export function usualRenewalAt({ notBefore, notAfter }: CertificateValidity): number {
  return notAfter - (notAfter - notBefore) * SHARE_LEFT
}

/**
 * Returns the time of a renewal by the authority's advice (RFC 9773 §4.2), which may only be earlier than the usual one.
 * @param suggestedWindow as the authority answered it, unchecked
 * @param fraction a number from 0 to below 1, the place in the window, so that clients do not all renew at once
 */
export function renewalAt(validity: CertificateValidity, suggestedWindow: unknown, fraction: number): number {
  const { notBefore, notAfter } = validity
  const usual = usualRenewalAt(validity)
  const { start, end } = Object(suggestedWindow)
  const [from, to] = [Date.parse(start), Date.parse(end)]
  // A window longer than the lifetime cannot be about this certificate.
  if (!(to > from) || to - from > notAfter - notBefore) return usual
  const earliest = notBefore + Math.min((notAfter - notBefore) * EARLIEST_SHARE, EARLIEST_MAX_MS)
  return Math.min(usual, Math.max(from + (to - from) * fraction, earliest))
}
