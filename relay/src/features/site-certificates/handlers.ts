// Answers `POST /sdk/certificate`: issues a certificate for the site's own key (docs/protocol.md §11).

import { HEADER, type SiteCertificate, type SiteCertificatePending } from '@svc/protocol'
import type { ApiParts } from '../../core/api/endpoint-handler.ts'
import { SITE_CERTIFICATE_BODY } from '../../core/api/endpoints/endpoints.ts'
import { siteCertificateRequest } from '../../core/api/endpoints/request-schemas.ts'
import { sendData } from '../../core/api/http/envelope.ts'
import { readJson } from '../../core/api/http/read-body.ts'
import { headerOf } from '../../core/api/http/request.ts'
import type { Handler } from '../../core/api/http/server.ts'
import { now } from '../../core/clock.ts'
import { parseWith } from '../../core/config/schema.ts'
import { RelayError } from '../../core/errors.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { LeaseRegistry } from '../../core/lease/lease-registry.ts'
import { siteHostnames } from '../../core/lease/site-hostnames.ts'
import type { Policy } from '../../core/policy/policy.ts'
import type { RateLimits } from '../../core/rate-limit/client-rate-limits.ts'
import { parseCertificateRequest } from './certificate-request.ts'
import { endOfLeaf } from './issuer.ts'
import type { SiteCertificateAnswer, SiteCertificateIssuer } from './site-certificate-issuer.ts'

/**
 * Time for which a certificate order reserves the names: an order may queue behind others, and then takes at most half
 * an hour.
 */
const SITE_ORDER_MAX_MS = 24 * 3_600_000

interface SiteCertificatesParts {
  /** The root host, for which no site gets a certificate. */
  rootHost: string
  issuer: SiteCertificateIssuer
  policy: Policy
  leases: Pick<LeaseRegistry, 'certify'>
  /** Resolves when the reserved names are on disk. */
  durable: () => Promise<void>
}

/** A request whose body may be read. */
interface Admission {
  lease: Lease
  source: string
  /** Whether its rate limit charge was that of a poll, which makes no new order. */
  isPoll: boolean
}

/** 200 with the certificate, or 202 with the seconds after which to ask again. */
type Answered = { status: 200; data: SiteCertificate } | { status: 202; data: SiteCertificatePending }

export function createSiteCertificateHandler(
  { clientAddresses, credentials, bodies, rateLimits }: ApiParts,
  parts: SiteCertificatesParts,
): Handler {
  const certificates = new SiteCertificates(parts, rateLimits)
  return async (request, response) => {
    const source = clientAddresses.ofRequest(request)
    const lease = credentials.leaseOf(headerOf(request, HEADER.accessToken), 'lease')
    const admission = certificates.admit(lease, source)
    const bounds = bodies.limitsOfLease(SITE_CERTIFICATE_BODY, lease)
    const { csr } = parseWith(siteCertificateRequest, await readJson(request, response, bounds))
    const { status, data } = await certificates.issue(admission, csr)
    sendData(response, data, status)
  }
}

class SiteCertificates {
  readonly #parts: SiteCertificatesParts
  readonly #rateLimits: RateLimits

  constructor(parts: SiteCertificatesParts, rateLimits: RateLimits) {
    this.#parts = parts
    this.#rateLimits = rateLimits
  }

  /**
   * Checks everything except the certificate request, before the body is read. Polling costs little of the rate limit.
   * @param source normalized address of the client
   * @throws RelayError
   */
  admit(lease: Lease, source: string): Admission {
    const { issuer, policy } = this.#parts
    if (!policy.routes(lease))
      throw new RelayError('lease_rejected', 'the policy lets no visitor reach this lease')
    if (!issuer.mayHave(lease))
      throw new RelayError(
        'lease_rejected',
        'this relay issues certificates to sites that its operator has approved by name, and this site is not one of them',
      )
    const isPoll = issuer.knows(lease.identityKey)
    if (isPoll) this.#rateLimits.chargeCertificatePoll(source, lease.identityKey)
    else this.#rateLimits.chargeCertificate(source, lease.identityKey)
    return { lease, source, isPoll }
  }

  /** @param csr DER in base64 @throws RelayError */
  async issue({ lease, source, isPoll }: Admission, csr: string): Promise<Answered> {
    const hostnames = siteHostnames(lease, this.#parts.rootHost)
    const request = parseCertificateRequest(Buffer.from(csr, 'base64'), hostnames)
    const { issuer, leases, durable } = this.#parts
    const found = await issuer.find(request, lease)
    if (found === undefined) {
      if (isPoll) this.#rateLimits.chargeCertificate(source, lease.identityKey)
      // Reserves the names for the site even if its lease ends during the order.
      leases.certify(lease, request.names, now() + SITE_ORDER_MAX_MS)
    }
    const answer = found ?? (await issuer.issue(request, lease))
    if ('chain' in answer) leases.certify(lease, request.names, endOfLeaf(answer.chain))
    await durable()
    return answered(answer)
  }
}

function answered(answer: SiteCertificateAnswer): Answered {
  if ('chain' in answer) return { status: 200, data: { chain: answer.chain } }
  return { status: 202, data: { retry_after: answer.retryAfterS } }
}
