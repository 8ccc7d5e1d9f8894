// What metrics and the admin page read of this machine and the others.

import { toWallTime } from '../../core/clock.ts'
import type { ClusterReadings, MachineReading } from '../../core/metrics/cluster-readings.ts'
import type { ChangeFeed } from './engine/change-feed.ts'
import type { Engine } from './engine/engine.ts'
import type { MachineLinks } from './links/machine-links.ts'
import type { KnownMachines, Machine, MachineStatus } from './machines.ts'

interface ReadingParts {
  machines: KnownMachines
  status: () => MachineStatus
  engine: Engine
  links: MachineLinks
  feed: ChangeFeed
}

export function clusterReadings(parts: ReadingParts): ClusterReadings {
  const { machines, engine, links, feed } = parts
  return {
    get isEngineUp() {
      return engine.isUp
    },
    machines: () => [readingHere(parts), ...machines.others.map((other) => readingOf(other, parts))],
    get counts() {
      const { operations, failures } = engine.counts
      const { resyncs, changes } = feed.counts
      return { ...links.counts, engineOperations: operations, engineFailures: failures, resyncs, changes }
    },
  }
}

function readingHere({ machines, status }: ReadingParts): MachineReading {
  const { run: _run, release, isDraining, ...figures } = status()
  return {
    ...figures,
    address: machines.name,
    releaseVersion: release,
    state: isDraining ? 'draining' : 'online',
    isThis: true,
    seenAt: Date.now(),
  }
}

function readingOf(other: Machine, { machines, links }: ReadingParts): MachineReading {
  const { run: _run, release, isDraining, name, seenAt, ...figures } = other
  const isGone = !machines.isAlive(other)
  const isReachable = links.isReachable(name)
  const state = isGone ? 'gone' : isDraining ? 'draining' : isReachable ? 'online' : 'unreachable'
  return {
    ...figures,
    address: name,
    releaseVersion: release,
    state,
    isThis: false,
    seenAt: Math.round(toWallTime(seenAt)),
  }
}
