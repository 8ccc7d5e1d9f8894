// Checks the store of a cluster: whether Redis answers and keeps its data, and which machines are running.

import { tcpProblem } from '../../core/check/bind.ts'
import { type CheckOptions, error, type Found, off, ok, warning } from '../../core/check/finding.ts'
import { askHealth } from '../../core/check/health.ts'
import type { Settings } from '../../core/config/settings.ts'
import { authorityOf, type WayToRedis, wayToRedis } from './settings.ts'

const WAYS: Readonly<Record<WayToRedis, Found>> = {
  tls: ok('The way to Redis is encrypted (rediss://).'),
  loopback: ok('Redis is on this machine: what the machine tells it does not leave it.'),
  plaintext: warning(
    'The way to Redis is not encrypted (CLUSTER_ALLOW_PLAINTEXT): who is on it reads its password and may give wrong answers.',
  ),
}

export async function checkCluster(settings: Settings, { isRestart }: CheckOptions): Promise<Found[]> {
  const { cluster, host } = settings
  if (cluster === undefined) return [off('CLUSTER_URL is not set: the relay is one machine.')]
  const { inspectRedis } = await import('./inspect-redis.ts')
  const found = await inspectRedis(cluster, host).catch((cause: Error) => cause)
  if (found instanceof Error) return [error(`CLUSTER_URL: ${found.message}.`)]
  const own = authorityOf(cluster.address)
  const others = found.machines.filter((name) => name !== own)
  const shown = others.length === 0 ? 'no other machine is there' : `others there: ${others.join(', ')}`
  const all = [ok(`Redis (${found.version}) answers; ${shown}.`), WAYS[wayToRedis(cluster.redis)]]
  if (found.hasSameSecret === false)
    all.push(error('CLUSTER_SECRET is another one than that of the other machines.'))
  if (found.isDurable === false)
    all.push(warning('Redis does not write each change to disk (appendonly is no): its end may lose data.'))
  if (found.evicts) all.push(warning('Redis drops entries when its memory is full (maxmemory-policy).'))
  const problem = await tcpProblem({ port: cluster.listenPort, host: settings.listenAddress })
  const isOurs = problem?.code === 'EADDRINUSE' && isRestart && (await askHealth(settings)).isServing
  all.push(
    problem === undefined || isOurs
      ? ok(`Other machines reach this one at ${own}; it listens at TCP port ${cluster.listenPort}.`)
      : error(`CLUSTER_ADDR: the relay cannot listen at port ${cluster.listenPort}: ${problem.message}.`),
  )
  return all
}
