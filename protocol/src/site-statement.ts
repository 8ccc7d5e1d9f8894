// The signed statement that a site is at a relay until a time, by which other relays lead visitors there.

/** SiteStatement is a site's signed statement that visitors reach it at one relay. *Extension* `site_statement`. */
export interface SiteStatement {
  /** The time of issue by the site's own clock, as `Date.prototype.toISOString` writes it. */
  issued_at: string
  /** The expiry, in the same format, at most {@link SITE_STATEMENT_MAX_MS} later. */
  expires_at: string
  /** The `personal_sign` signature (EIP-191) of {@link siteStatementText} by the site's identity: `0x` and 130 hex digits. */
  signature: string
}

/** The format of a statement's times. */
export const SITE_STATEMENT_TIME: RegExp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
/** The format of a statement's signature. */
export const SITE_STATEMENT_SIGNATURE: RegExp = /^0x[\da-f]{130}$/

/** The longest validity of a statement, in milliseconds: the day that a static cache answers for a site, and the tolerance. */
export const SITE_STATEMENT_MAX_MS: number = (24 * 60 + 2) * 60_000
/** The tolerated clock difference of a site and an asking relay, in milliseconds: a statement outlives its lease by as much. */
export const SITE_STATEMENT_TOLERANCE_MS = 120_000

/**
 * siteStatementText returns the text that the site's identity signs. Its first line differs from that of a Sign-In with Ethereum message
 * (EIP-4361), so that no signature is valid for both.
 * @param canonicalLabel the first label of the site's canonical hostname, which has the whole address
 * @param origin the origin of the relay's URL
 */
export function siteStatementText(
  canonicalLabel: string,
  origin: string,
  { issued_at, expires_at }: Pick<SiteStatement, 'issued_at' | 'expires_at'>,
): string {
  return [
    'svc site statement v1: visitors reach this site at this relay.',
    `Site: ${canonicalLabel}`,
    `Relay: ${origin}`,
    `Issued At: ${issued_at}`,
    `Expires At: ${expires_at}`,
  ].join('\n')
}
