// Several machines of one relay, as a part that other features know. It starts before the core.

import type { FeatureKey, Running } from '../../feature.ts'
import type { SnapshotSharing } from '../static-cache/snapshot-sharing.ts'

export interface RunningCluster extends Running {
  /** Tells the other machines of the snapshots of this one, and of theirs; undefined where the static cache is off. */
  snapshots: SnapshotSharing | undefined
}

export const cluster: FeatureKey<RunningCluster> = {}
