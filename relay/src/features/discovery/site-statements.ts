// Checks a site's statement that it is at a relay: the site, the relay, the times, and the signer.

import {
  SITE_STATEMENT_MAX_MS,
  SITE_STATEMENT_SIGNATURE,
  SITE_STATEMENT_TIME,
  SITE_STATEMENT_TOLERANCE_MS,
  type SiteStatement,
  siteStatementText,
} from '@svc/protocol'

/** Recovers the lower-case address that signed a text with `personal_sign`; undefined for an invalid signature. */
export type RecoverSigner = (text: string, signature: string) => Promise<string | undefined>

const ADDRESS_HEX_CHARS = 40

/**
 * Returns whether the site of `canonicalLabel` stated that it is at the relay of `origin`. The signature comes last,
 * since it costs the most.
 * @param value the unchecked statement from that relay
 * @param now milliseconds since the epoch
 */
export async function isStatedBySite(
  value: unknown,
  { canonicalLabel, origin }: { canonicalLabel: string; origin: string },
  now: number,
  recoverSigner: RecoverSigner,
): Promise<boolean> {
  if (!hasForm(value) || !isInTime(value, now)) return false
  const address = `0x${canonicalLabel.slice(-ADDRESS_HEX_CHARS)}`
  return (await recoverSigner(siteStatementText(canonicalLabel, origin, value), value.signature)) === address
}

function hasForm(value: unknown): value is SiteStatement {
  const { issued_at, expires_at, signature } = (value ?? {}) as Record<string, unknown>
  return (
    isLike(SITE_STATEMENT_TIME, issued_at) &&
    isLike(SITE_STATEMENT_TIME, expires_at) &&
    isLike(SITE_STATEMENT_SIGNATURE, signature)
  )
}

function isLike(form: RegExp, value: unknown): boolean {
  return typeof value === 'string' && form.test(value)
}

/** An invalid date makes every comparison false. */
function isInTime({ issued_at, expires_at }: SiteStatement, now: number): boolean {
  const [issuedAt, expiresAt] = [Date.parse(issued_at), Date.parse(expires_at)]
  return (
    issuedAt <= now + SITE_STATEMENT_TOLERANCE_MS &&
    expiresAt > now &&
    expiresAt - issuedAt <= SITE_STATEMENT_MAX_MS
  )
}
