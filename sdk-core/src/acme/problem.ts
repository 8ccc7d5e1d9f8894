// The errors of an ACME authority in plain English (RFC 8555 §6.7, RFC 9457).

import { acmeProblemDetail, acmeProblemType } from '@svc/protocol/acme'
import { SvcError } from '../errors.ts'

/** An AcmeProblem is an answer of the authority that is an error, or says why it gave an order up. */
export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem'
  /** The type without its namespace, such as `rateLimited`; empty when the answer has none. */
  readonly type: string
  readonly status: number
  readonly retryAfterMs: number | undefined
  /** True when it is about the validation of the domain, and not about a request. */
  readonly isOfValidation: boolean

  constructor(document: unknown, status: number, retryAfterMs?: number, isOfValidation = false) {
    super(acmeProblemDetail(document) || `status ${status}`)
    this.type = acmeProblemType(document)
    this.status = status
    this.retryAfterMs = retryAfterMs
    this.isOfValidation = isOfValidation
  }
}

/** What each type of problem means for the owner of a domain. */
const SENTENCES: Readonly<Record<string, (domain: string) => string>> = {
  rateLimited: (domain) => `the authority wants no more orders for ${domain} for now`,
  caa: (domain) =>
    `a CAA record of ${domain} forbids this authority or this account to issue: its accounturi must be that of the account`,
  externalAccountRequired: () =>
    'the authority only accepts its customers: set acme.externalAccountBinding to the key that it gave you',
  userActionRequired: () => 'the authority changed its terms, and its account has to accept them',
  connection: unreachable,
  dns: unreachable,
  tls: unreachable,
  incorrectResponse: wrongAnswer,
  unauthorized: wrongAnswer,
}

function unreachable(domain: string): string {
  return `the authority did not reach this site as ${domain}`
}

function wrongAnswer(domain: string): string {
  return `the authority got a wrong answer from ${domain}: its records lead to another server, or something between ends TLS`
}

/** Returns the error of a site for one that an order ended with. */
export function errorOfOrder(cause: unknown, domain: string): SvcError {
  if (cause instanceof SvcError) return cause
  if (!(cause instanceof AcmeProblem)) {
    const why = `the certificate of ${domain} was not ordered: ${(cause as Error).message}`
    return new SvcError('certificate_unavailable', why, { cause })
  }
  const { type, message, retryAfterMs } = cause
  const sentence = Object.hasOwn(SENTENCES, type)
    ? SENTENCES[type]!(domain)
    : `the authority does not issue for ${domain}`
  return new SvcError('certificate_unavailable', `${sentence}: ${message}`, { cause, retryAfterMs })
}
