// One order at an ACME authority, from a domain to its chain (RFC 8555 §7.4).

import { acmeProblemDetail } from '@svc/protocol/acme'
import { pause } from '@svc/protocol/timers'
import { base64url } from '../bytes/base64url.ts'
import { parsePem } from '../certificate/certificate-chain.ts'
import { makeCertificateRequest } from '../certificate/certificate-request.ts'
import type { SiteKey } from '../certificate/site-key.ts'
import { challengeCertificate } from './challenge.ts'
import { type AcmeAnswer, type AcmeClient, type Directory, urlIn } from './client.ts'
import { thumbprintOf } from './jws.ts'
import { ORDER_DEADLINE_MS, POLL_FIRST_MS, POLL_MAX_MS, POLL_RETRY_AFTER_MAX_MS } from './limits.ts'
import { AcmeProblem } from './problem.ts'

/** An OrderRequest says what to order. */
export interface OrderRequest {
  domain: string
  /** The key of the certificate. */
  key: SiteKey
  /** The identifier of the certificate that this one replaces (RFC 9773 §5), which some limits do not count. */
  replaces: string | undefined
  /** Shows a proof, DER, to connections that offer `acme-tls/1` alone, until the order has ended. */
  show(certificate: Uint8Array): Promise<void>
  /** Called when the authority has validated the domain, or has refused to. */
  validated(isValid: boolean): void
  signal: AbortSignal
}

const BAD_REQUEST = 400
const CHALLENGE = 'tls-alpn-01'
const NOT_VALIDATED = 'incorrectResponse'

/**
 * Orders a certificate.
 * @returns the chain as DER, leaf first
 * @throws AcmeProblem, Error, or the signal's reason
 */
export async function orderCertificate(
  client: AcmeClient,
  directory: Directory,
  request: OrderRequest,
): Promise<Uint8Array[]> {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(ORDER_DEADLINE_MS)])
  const { json: order, location } = await newOrder(client, directory, request, signal)
  if (location === undefined)
    throw new Error('the authority names no order: its answers must expose Location')
  const { authorizations } = order
  for (const url of Array.isArray(authorizations) ? authorizations : [])
    await authorize(client, String(url), request, signal)
  const ready = await poll(client, location, signal, ['ready', 'valid', 'processing'])
  if (ready.json.status === 'ready') {
    const csr = base64url(await makeCertificateRequest(request.key, [request.domain]))
    await client.post(urlIn(ready.json, 'finalize'), { csr }, signal)
  }
  const issued = await poll(client, location, signal, ['valid'])
  return parsePem((await client.post(urlIn(issued.json, 'certificate'), undefined, signal)).text)
}

async function newOrder(
  client: AcmeClient,
  { newOrder: url }: Directory,
  { domain, replaces }: OrderRequest,
  signal: AbortSignal,
): Promise<AcmeAnswer> {
  const identifiers = [{ type: 'dns', value: domain }]
  const order = (extra: object): Promise<AcmeAnswer> => client.post(url, { identifiers, ...extra }, signal)
  if (replaces === undefined) return order({})
  return order({ replaces }).catch((error) => {
    // The certificate may be of another authority, or replaced already. All else is passed on.
    const isOfReplaces =
      error instanceof AcmeProblem && (error.type === 'alreadyReplaced' || error.status === BAD_REQUEST)
    if (!isOfReplaces) throw error
    return order({})
  })
}

/** Proves the domain, unless the authority still knows an earlier proof. */
async function authorize(
  client: AcmeClient,
  url: string,
  { domain, key, show, validated }: OrderRequest,
  signal: AbortSignal,
): Promise<void> {
  const { json } = await client.post(url, undefined, signal)
  if (json.status !== 'pending') return
  const challenges: unknown[] = Array.isArray(json.challenges) ? json.challenges : []
  const challenge = Object(challenges.find((one) => Object(one).type === CHALLENGE))
  if (typeof challenge.token !== 'string')
    throw new Error(`the authority offers no ${CHALLENGE} for ${domain}`)
  const keyAuthorization = `${challenge.token}.${await thumbprintOf(client.jwk)}`
  await show(await challengeCertificate(key, domain, keyAuthorization))
  try {
    await client.post(urlIn(challenge, 'url'), {}, signal)
    await poll(client, url, signal, ['valid'])
    validated(true)
  } catch (error) {
    if (error instanceof AcmeProblem && error.isOfValidation) validated(false)
    throw error
  }
}

/**
 * Asks for an order or an authorization until it has one of the statuses.
 * @throws AcmeProblem when the authority gave it up
 */
async function poll(
  client: AcmeClient,
  url: string,
  signal: AbortSignal,
  statuses: readonly string[],
): Promise<AcmeAnswer> {
  for (let pauseMs = POLL_FIRST_MS; ; pauseMs = Math.min(2 * pauseMs, POLL_MAX_MS)) {
    const answer = await client.post(url, undefined, signal)
    const { status } = answer.json
    if (statuses.includes(String(status))) return answer
    if (status !== 'pending' && status !== 'processing' && status !== 'ready') throw problemOf(answer.json)
    const asked = Math.min(answer.retryAfterMs ?? 0, POLL_RETRY_AFTER_MAX_MS)
    await pause(Math.max(pauseMs, asked), signal)
    signal.throwIfAborted()
  }
}

/** Returns why an order or an authorization is not valid. */
function problemOf({ status, error, challenges }: Record<string, unknown>): AcmeProblem {
  const ofChallenge = Array.isArray(challenges) ? challenges.find((one) => Object(one).error) : undefined
  const problem = Object(error ?? ofChallenge?.error)
  const detail = acmeProblemDetail(problem) || `the authority says ${String(status)}`
  const type = problem.type ?? `urn:ietf:params:acme:error:${NOT_VALIDATED}`
  return new AcmeProblem({ type, detail }, Number(problem.status) || BAD_REQUEST, undefined, true)
}
