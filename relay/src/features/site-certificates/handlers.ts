// Answers `POST /sdk/certificate`: a certificate for a key that the site keeps itself (docs/protocol.md §11).

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

/** Time for which an order of a certificate keeps the name: it waits for others, and lasts half an hour at most. */
const SITE_ORDER_MAX_MS = 24 * 3_600_000

interface SiteCertificatesParts {
  /** For which no site gets a certificate. */
  rootHost: string
  issuer: SiteCertificateIssuer
  policy: Policy
  leases: Pick<LeaseRegistry, 'certify'>
  /** Resolves when what was reserved is on disk. */
  durable: () => Promise<void>
}

/** A request whose body may be read. */
interface Admission {
  lease: Lease
  source: string
  /** It was charged as one that makes no new order. */
  isPoll: boolean
}

/** With 200 the certificate, with 202 the time to ask again. */
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
   * Checks all but the request itself, before its body is read. A site that waits for its certificate pays little for asking
   * again.
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
      // The name stays with the site, whatever becomes of its lease while the order is under way.
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
