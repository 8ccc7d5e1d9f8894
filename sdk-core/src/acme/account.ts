// The site's own account at an ACME authority (RFC 8555 §7.3). Its URL is stored, since CAA records name it.

import { SvcError } from '../errors.ts'
import type { AcmeClient, Directory } from './client.ts'
import { bindAccount, type ExternalAccount } from './jws.ts'
import { AcmeProblem } from './problem.ts'

/** What an account is made with. */
export interface AccountTerms {
  email: string | undefined
  externalAccountBinding: ExternalAccount | undefined
}

/** The authority has lost the account, as a test server does when it restarts. */
const NO_ACCOUNT = 'accountDoesNotExist'
/** The authority refuses the account: it was deactivated by its owner, or revoked by the authority (§7.3.6). */
const REFUSED = 'unauthorized'

/**
 * Resolves with the URL of the account: the stored one, that of the key, or that of a new account.
 * @throws AcmeProblem or Error
 */
async function ensureAccount(client: AcmeClient, terms: AccountTerms, signal: AbortSignal): Promise<string> {
  if (client.account !== undefined) return client.account
  const { newAccount } = await client.directory(signal)
  const { email, externalAccountBinding: external } = terms
  const request = {
    termsOfServiceAgreed: true,
    ...(email !== undefined && { contact: [`mailto:${email}`] }),
    ...(external && { externalAccountBinding: await bindAccount(external, newAccount, client.jwk) }),
  }
  const { location } = await client.post(newAccount, request, signal)
  if (location === undefined)
    throw new Error('the authority names no account: its answers to pages must expose Location')
  client.account = location
  return location
}

/**
 * Calls the authority as the account.
 * @param where where the account is stored, for the message about one that is refused
 * @throws what `call` throws; SvcError `certificate_unavailable` when the account was deactivated or revoked
 */
export async function asAccount<T>(
  client: AcmeClient,
  terms: AccountTerms,
  where: string,
  signal: AbortSignal,
  call: (directory: Directory) => Promise<T>,
): Promise<T> {
  const attempt = async (): Promise<T> => {
    await ensureAccount(client, terms, signal)
    return call(await client.directory(signal))
  }
  try {
    return await attempt().catch((error) => {
      if (!(error instanceof AcmeProblem) || error.type !== NO_ACCOUNT) throw error
      client.account = undefined
      return attempt()
    })
  } catch (cause) {
    if (!isRefusal(cause)) throw cause
    throw new SvcError(
      'certificate_unavailable',
      `the authority no longer accepts the account ${client.account ?? 'of this key'}, which was deactivated or revoked (${cause.message}): remove ${where} for a new account, and put that into the CAA records`,
      { cause },
    )
  }
}

function isRefusal(error: unknown): error is AcmeProblem {
  return error instanceof AcmeProblem && error.type === REFUSED && !error.isOfValidation
}
