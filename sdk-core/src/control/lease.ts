// A lease: what a site requests from a relay, what the relay grants, and what the site learns about it later.

import type { Extension, LeaseMetadata } from '@svc/protocol'
import type { ServedDomains } from '../domains/served-domains.ts'
import type { SvcError } from '../errors.ts'
import type { KeyIdentity } from '../identity/key.ts'
import type { DedicatedPorts, PortRequest } from './dedicated-ports.ts'
import type { Endpoint, GatewayCheck } from './endpoint.ts'

/** A LeaseRequest says what a site requests from a relay. */
export interface LeaseRequest extends PortRequest {
  /** The normalized name. */
  name: string
  identity: KeyIdentity
  ttlS: number
  allowCanonicalFallback: boolean
  metadata: LeaseMetadata | undefined
  /** The token of an invitation, for a relay that asks for one. */
  invitation?: string | undefined
  /** Prefers an endpoint at a gateway of the relay's choice, and checks which gateways the site accepts. */
  checkGateway?: GatewayCheck | undefined
  /** Permits the relay to store the site's files, if it has a static cache. */
  cache?: { ttlS: number } | undefined
  /** Asks the relay for the address of each visitor. */
  visitorAddress?: boolean | undefined
  /** Lets the relay show a page at the friendly hostname while there is no lease. */
  awayPage?: boolean | undefined
  /** Asks the relay to lead the site's own domains to it. */
  domains?: ServedDomains | undefined
  /** Tells other relays that visitors reach the site here, if the relay passes that on. */
  isStated?: boolean
}

/** CacheLimits bounds what a relay stores of one site. */
export interface CacheLimits {
  /** The largest total size of all files, in bytes. */
  maxExposureBytes: number
  /** The largest size of one file, in bytes. */
  maxObjectBytes: number
}

/** A Grant is what every successful register or renew returns. */
export interface Grant extends Endpoint {
  accessToken: string
  /** What the relay says about the site's own domains, unchecked. */
  domains: unknown
  /** The time at which the lease ends, by the relay's clock, in milliseconds since the epoch. */
  expiresAt: number
}

/** A Registration is a lease as the relay granted it. */
export interface Registration extends Grant, DedicatedPorts {
  /** The protocol extensions of the relay. */
  extensions: ReadonlySet<Extension>
  /** The relay's release; undefined when it names none. */
  release: string | undefined
  /** The limits of the relay's static cache; undefined where it has none. */
  cacheLimits: CacheLimits | undefined
  /** The friendly hostname. It is empty when another identity owns the friendly name. */
  hostname: string
  canonicalHostname: string
  /** The relay's answer, for code that is loaded later. */
  answer: Record<string, unknown>
}

/** LeaseEvents are what a lease reports to its site. */
export interface LeaseEvents {
  /** The relay granted a lease. */
  registered(): void
  /** A renewal succeeded. */
  renewed(): void
  /** A renewal failed; the lease may still live. */
  failed(error: SvcError): void
  /** The relay no longer knows the lease. */
  gone(error: SvcError): void
  /** The relay granted or renewed the lease without some of the metadata, or the name had another owner. */
  reduced(error: SvcError): void
}
