// Defines what a site asks for with a registration.

import type { Identity, LeaseMetadata } from '@svc/protocol'
import type { RequestedPorts } from './lease-ports.ts'
import type { LeasePreferences } from './lease-preferences.ts'

/** Addresses of a client, normalized: the one that the relay saw, and the one that the client reported. */
export interface LeaseAddresses {
  clientIp: string
  reportedIp: string | undefined
}

export interface LeaseRequest {
  identity: Identity
  allowCanonicalFallback: boolean
  metadata: LeaseMetadata
  ttlS: number
  /** Requested dedicated ports. */
  wanted?: RequestedPorts
  /** Id of the invitation with which the identity comes in. @default it needs none */
  invitation?: string | undefined
  /** @default NO_PREFERENCES */
  preferences?: LeasePreferences
}
