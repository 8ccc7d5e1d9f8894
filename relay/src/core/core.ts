// The core of a relay: what its control plane, its listeners and its features share in the primary process.

import type { Socket } from 'node:net'
import type { Pipe } from './bridge/pipe.ts'
import type { Visitors } from './bridge/visitors.ts'
import type { ClientAddresses } from './client-address/client-addresses.ts'
import type { RelayCapacity } from './config/capacity.ts'
import type { Settings } from './config/settings.ts'
import type { DataPlane } from './data-plane.ts'
import type { Lease } from './lease/lease.ts'
import type { Logger } from './log/log.ts'
import type { RelayCounters } from './metrics/relay-counters.ts'
import type { RelayState } from './storage/stored-state.ts'

export interface Core {
  settings: Settings
  capacity: RelayCapacity
  state: RelayState
  pipe: Pipe
  clientAddresses: ClientAddresses
  visitors: Visitors
  counters: RelayCounters
  dataPlane: DataPlane
  /** Aborted as soon as the relay begins to close. */
  closing: AbortSignal
  isClosing: () => boolean
  /** Whether the relay has issued a certificate for a lease. @param leaf DER */
  hasIssued: (lease: Lease, leaf: Buffer) => Promise<boolean>
  /** Serves a connection as one to the relay's public port. */
  serveVisitor: (socket: Socket) => void
  /** Resolves when every process of the relay knows what has changed. */
  settled: () => Promise<void>
  log: Logger
}
