// Defines the figures of a cluster for metrics and administration.

/** What this machine knows of the cluster. */
export interface ClusterReadings {
  /** True while Redis (Redis) answers. */
  readonly isRedisUp: boolean
  /** This machine first, then the others, including those that left within the last ten minutes. */
  machines(): MachineReading[]
  readonly counts: ClusterCounts
}

/** Counts of this machine since it started. */
interface ClusterCounts {
  /** Visitors that this machine forwarded to others, accepted from others, and could forward to nobody. */
  readonly handedOut: number
  readonly handedIn: number
  readonly handOversFailed: number
  /** Operations of Redis that this machine asked for, and those of them that failed. */
  readonly redisOperations: number
  readonly redisFailures: number
  /** Times that this machine read the whole shared state again. */
  readonly resyncs: number
  /** Changes of the shared state that this machine applied. */
  readonly changes: number
}

/**
 * - `online`: it serves.
 * - `draining`: it ends soon and takes nothing new.
 * - `unreachable`: Redis knows it, but this machine has no connection to it.
 * - `gone`: it has ended, or Redis has not heard of it for too long.
 */
export type MachineState = 'online' | 'draining' | 'unreachable' | 'gone'

export const MACHINE_STATES: readonly MachineState[] = ['online', 'draining', 'unreachable', 'gone']

/** The last figures of a machine. */
export interface MachineReading {
  /** Its `CLUSTER_ADDR`. */
  address: string
  releaseVersion: string
  state: MachineState
  isThis: boolean
  /** Wall clock, milliseconds since the epoch. */
  startedAt: number
  seenAt: number
  carriers: number
  readySessions: number
  visitors: number
  /** Bytes since its start. */
  fromVisitors: number
  toVisitors: number
}
