// Statements of sites, signed by a wallet's library in place of the SDK.

import { type SiteStatement, siteStatementText } from '@svc/protocol'
import type { newAccount } from './relay.ts'

export interface StatementTerms {
  by: ReturnType<typeof newAccount>
  canonicalLabel: string
  origin: string
  /** Milliseconds since the epoch. */
  issuedAt: number
  expiresAt: number
}

export async function makeStatement(terms: StatementTerms): Promise<SiteStatement> {
  const { by, canonicalLabel, origin, issuedAt, expiresAt } = terms
  const times = {
    issued_at: new Date(issuedAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
  }
  const message = siteStatementText(canonicalLabel, origin, times)
  return { ...times, signature: await by.signMessage({ message }) }
}
