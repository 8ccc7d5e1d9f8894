// Turns answers of an ACME authority that are errors into one line for the operator (RFC 8555 §6.7, RFC 9457).

import { acmeProblemDetail, acmeProblemType } from '@svc/protocol/acme'
import { AcmeError, type AcmeFault } from './authority.ts'

/** Names the settings by which an operator shows such an authority that it is a customer. */
export const BINDING = 'ACME_EAB_KID and ACME_EAB_HMAC are what it gave you for one'
const TOO_MANY_REQUESTS = 429
const SERVER_ERROR = 500
/** What an error type means; any other type is a refusal. */
const FAULTS: Readonly<Record<string, AcmeFault>> = {
  rateLimited: 'rate_limited',
  connection: 'validation_failed',
  dns: 'validation_failed',
  incorrectResponse: 'validation_failed',
  tls: 'validation_failed',
  serverInternal: 'unreachable',
  malformed: 'unusable',
  badNonce: 'unusable',
  badCSR: 'unusable',
}

/** An AcmeProblem is an error response of the authority. */
export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem'
  /** The error type without its namespace, such as `rateLimited`; empty when the answer has none. */
  readonly type: string
  readonly status: number
  readonly retryAfterMs: number | undefined

  constructor(document: unknown, status: number, retryAfterMs?: number) {
    super(acmeProblemDetail(document) || `status ${status}`)
    this.type = acmeProblemType(document)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** @param names of the order */
export function errorOfProblem(problem: AcmeProblem, names: readonly string[]): AcmeError {
  const { type, message, retryAfterMs } = problem
  const options = { cause: problem, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  return new AcmeError(faultOf(problem), `${sentence(type, names.join(', '))}: ${message}`, options)
}

function faultOf({ type, status }: AcmeProblem): AcmeFault {
  if (status === TOO_MANY_REQUESTS) return 'rate_limited'
  const known = Object.hasOwn(FAULTS, type) ? FAULTS[type] : undefined
  if (known !== undefined) return known
  return status >= SERVER_ERROR ? 'unreachable' : 'refused'
}

function sentence(type: string, names: string): string {
  if (type === 'rateLimited') return `the authority wants no more orders for ${names} for now`
  if (type === 'caa') return `a CAA record forbids the authority to issue for ${names}`
  if (type === 'externalAccountRequired')
    return `the authority only accepts accounts of its customers: ${BINDING}`
  return `the authority does not issue for ${names}`
}
