// Those that share the work of this process: the worker processes of this machine, and the other machines of the relay.

import type { ChallengeStore } from './auth/challenges.ts'
import type { SpendBinding } from './keyless/keyless-signer.ts'
import type { Lease } from './lease/lease.ts'
import type { LeaseSharing } from './lease/lease-sharing.ts'
import type { ClusterReadings } from './metrics/cluster-readings.ts'
import type { PolicyChanges } from './policy/recent-changes.ts'
import type { AttemptCounter } from './rate-limit/failed-attempts.ts'
import type { RequestMemory } from './rate-limit/request-memory.ts'

interface Sharers {
  /** How many share the work at this moment, this process or machine included. */
  readonly size: number
  /** Uses up a binding that any of them issued. */
  spend: SpendBinding
}

/** The processes of this machine. */
export interface Processes extends Sharers {
  /** Resolves when all earlier changes are in force in each of them. */
  settled(): Promise<void>
  /** Asks the process with the most visitors of the lease to close one, since a visitor waits here for a session. */
  makeRoom(lease: Lease): void
  stopListening(): void
  /** Lets the sessions of all leases go to other machines. */
  leave(): void
  /** Resolves when all have ended. @param isOrderly false: at once */
  end(isOrderly: boolean): Promise<unknown>
}

/** The machines of the relay. */
export interface Machines extends Sharers {
  leases: LeaseSharing
  policyChanges: PolicyChanges
  readings: ClusterReadings
  /** Makes challenges that every machine takes. @param memory limit for clients without a credential */
  challenges(memory: RequestMemory): ChallengeStore
  /** Counts wrong secrets of one kind at all machines together. */
  failedAttempts(kind: string): AttemptCounter
  /**
   * Announces that this machine leaves; resolves when load balancers have had the time to notice, or `hurry` aborts.
   */
  leave(hurry: AbortSignal): Promise<void>
}

/** Peers has what features set when they start. */
export class Peers {
  /** Undefined if this process is the only one. */
  processes: Processes | undefined
  /** Undefined if the relay is one machine. */
  machines: Machines | undefined

  /** Processes that share the work at this moment, those of all machines. */
  get size(): number {
    return (this.processes?.size ?? 1) * (this.machines?.size ?? 1)
  }
}
