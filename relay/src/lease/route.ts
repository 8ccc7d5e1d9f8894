// Defines the routes of a public connection: to the relay itself, or to the reverse sessions of a lease.

import type { Lease } from './lease.ts'

export interface LeaseRoute {
  readonly to: 'lease'
  readonly lease: Lease
}

export type Route = { readonly to: 'root' } | LeaseRoute

/** The route of the root host. */
export const ROOT_ROUTE: Route = { to: 'root' }
