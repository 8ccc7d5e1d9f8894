// Defines what a site asks for with a registration.

import type { Identity, LeaseMetadata } from '@svc/protocol'
import type { RequestedPorts } from './lease-ports.ts'
import type { LeasePreferences } from './lease-preferences.ts'

/** Addresses of a client, normalized: as the relay saw it, and as it said itself. */
export interface LeaseAddresses {
  clientIp: string
  reportedIp: string | undefined
}

export interface LeaseRequest {
  identity: Identity
  allowCanonicalFallback: boolean
  metadata: LeaseMetadata
  ttlS: number
  /** Dedicated ports that are asked for. */
  wanted?: RequestedPorts
  /** @default NO_PREFERENCES */
  preferences?: LeasePreferences
}
