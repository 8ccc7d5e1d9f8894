// The custom domains that an operator bans, each with all names below it.

import { domainToASCII } from 'node:url'
import { DOMAIN_NAME_MAX_CHARS } from '@svc/protocol'

/** A domain in UTF-16 code units: with a dot at its end. */
export const BANNED_DOMAIN_MAX_CHARS: number = DOMAIN_NAME_MAX_CHARS + 1

/**
 * A domain as A-labels in lower case, without a dot at its end.
 * @returns undefined when the text is no domain
 */
export function normalizeDomain(text: string): string | undefined {
  const domain = domainToASCII(text.trim().replace(/\.$/, ''))
  return domain === '' || domain.length > DOMAIN_NAME_MAX_CHARS ? undefined : domain
}
