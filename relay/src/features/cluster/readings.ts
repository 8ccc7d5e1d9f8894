// What metrics and the admin page read about this machine and the others.

import { toWallTime } from '../../core/clock.ts'
import type { ClusterReadings, MachineReading } from '../../core/metrics/cluster-readings.ts'
import type { MachineLinks } from './links/machine-links.ts'
import type { KnownMachines, Machine, MachineStatus } from './machines.ts'
import type { ChangeFeed } from './redis/change-feed.ts'
import type { RedisClient } from './redis/redis-client.ts'

interface ReadingParts {
  machines: KnownMachines
  status: () => MachineStatus
  redis: RedisClient
  links: MachineLinks
  feed: ChangeFeed
}

export function clusterReadings(parts: ReadingParts): ClusterReadings {
  const { machines, redis, links, feed } = parts
  return {
    get isRedisUp() {
      return redis.isUp
    },
    machines: () => [readingHere(parts), ...machines.others.map((other) => readingOf(other, parts))],
    get counts() {
      const { operations, failures } = redis.counts
      const { resyncs, changes } = feed.counts
      return { ...links.counts, redisOperations: operations, redisFailures: failures, resyncs, changes }
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
