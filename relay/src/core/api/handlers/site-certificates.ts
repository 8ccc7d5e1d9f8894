// Answers `POST /sdk/certificate`: a certificate for a key that the site keeps itself (docs/protocol.md §11).

import type { SiteCertificate, SiteCertificatePending } from '@svc/protocol'
import { parseCertificateRequest } from '../../../features/site-certificates/certificate-request.ts'
import { endOfLeaf } from '../../../features/site-certificates/issuer.ts'
import type {
  SiteCertificateAnswer,
  SiteCertificateIssuer,
} from '../../../features/site-certificates/site-certificate-issuer.ts'
import { now } from '../../clock.ts'
import { RelayError } from '../../errors.ts'
import type { Lease } from '../../lease/lease.ts'
import type { LeaseRegistry } from '../../lease/lease-registry.ts'
import { siteHostnames } from '../../lease/site-hostnames.ts'
import type { Policy } from '../../policy/policy.ts'
import type { RateLimits } from '../../rate-limit/client-rate-limits.ts'

/** Time for which an order of a certificate keeps the name: it waits for others, and lasts half an hour at most. */
const SITE_ORDER_MAX_MS = 24 * 3_600_000

interface SiteCertificatesParts {
  /** For which no site gets a certificate. */
  rootHost: string
  /** Undefined on a relay that issues none. */
  issuer: SiteCertificateIssuer | undefined
  policy: Policy
  rateLimits: RateLimits
  leases: Pick<LeaseRegistry, 'certify'>
  /** Resolves when what was reserved is on disk. */
  durable: () => Promise<void>
}

/** A request whose body may be read. */
interface Admission {
  issuer: SiteCertificateIssuer
  lease: Lease
  source: string
  /** It was charged as one that makes no new order. */
  isPoll: boolean
}

/** With 200 the certificate, with 202 the time to ask again. */
type Answered = { status: 200; data: SiteCertificate } | { status: 202; data: SiteCertificatePending }

export class SiteCertificates {
  readonly #parts: SiteCertificatesParts

  constructor(parts: SiteCertificatesParts) {
    this.#parts = parts
  }

  /** Whether the relay lists the extension. */
  get isOffered(): boolean {
    return this.#parts.issuer !== undefined
  }

  /**
   * Checks all but the request itself, before its body is read. A site that waits for its certificate pays little for asking
   * again.
   * @param source normalized address of the client
   * @throws RelayError
   */
  admit(lease: Lease, source: string): Admission {
    const { issuer, policy, rateLimits } = this.#parts
    if (issuer === undefined)
      throw new RelayError('feature_unavailable', 'this relay issues no certificates for sites')
    if (!policy.routes(lease))
      throw new RelayError('lease_rejected', 'the policy lets no visitor reach this lease')
    if (!issuer.mayHave(lease))
      throw new RelayError(
        'lease_rejected',
        'this relay issues certificates to sites that its operator has approved by name, and this site is not one of them',
      )
    const isPoll = issuer.knows(lease.identityKey)
    if (isPoll) rateLimits.chargeCertificatePoll(source, lease.identityKey)
    else rateLimits.chargeCertificate(source, lease.identityKey)
    return { issuer, lease, source, isPoll }
  }

  /** @param csr DER in base64 @throws RelayError */
  async issue({ issuer, lease, source, isPoll }: Admission, csr: string): Promise<Answered> {
    const hostnames = siteHostnames(lease, this.#parts.rootHost)
    const request = parseCertificateRequest(Buffer.from(csr, 'base64'), hostnames)
    const { leases, durable, rateLimits } = this.#parts
    const found = await issuer.find(request, lease)
    if (found === undefined) {
      if (isPoll) rateLimits.chargeCertificate(source, lease.identityKey)
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
