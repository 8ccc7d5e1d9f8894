// Checks what the relay would listen to for visitors and metrics, and how many connections it could hold.

import type { ListenOptions } from 'node:net'
import { measureCapacity } from '../../lifecycle/capacity.ts'
import { listenProblem } from '../../lifecycle/listen.ts'
import type { Settings } from '../config/settings.ts'
import { tcpProblem } from './bind.ts'
import { error, type Found, off, ok } from './finding.ts'
import { askHealth } from './health.ts'
import type { CheckOptions } from './report.ts'

export async function checkListener(settings: Settings, options: CheckOptions): Promise<Found[]> {
  const { sniPort: port, listenAddress: host, url, rootHost } = settings
  const problem = await tcpProblem({ port, host })
  const place = `${host === undefined ? 'every address' : `${host} alone`}, TCP port ${port}`
  if (problem === undefined)
    return [ok(`The relay listens at ${place}, for ${url.origin} and the names below ${rootHost}.`)]
  if (problem.code === 'EADDRINUSE' && (await askHealth(settings)).isServing)
    return options.isRestart
      ? [ok(`The relay of these settings listens at TCP port ${port}, and a restart ends it first.`)]
      : [error(`The relay of these settings runs already, at TCP port ${port}: --restart allows that.`)]
  return [error(`The relay cannot listen: ${listenProblem(problem) ?? problem.message}.`)]
}

/** @throws SettingsError when the process may have too few descriptors */
export function checkCapacity(settings: Settings): Found[] {
  const { connections, portConnections, overlayConnections, portListeners } = measureCapacity(settings)
  const ports =
    settings.portRange === undefined ? '' : `, ${portConnections} to ${portListeners} dedicated ports`
  const peers = overlayConnections === 0 ? '' : `, ${overlayConnections} of other relays and as many to them`
  return [
    ok(
      `The relay holds ${connections} connections${ports}${peers}, by the files that this process may open.`,
    ),
  ]
}

export async function checkWorkers({ workers, sniPort, listenAddress: host }: Settings): Promise<Found[]> {
  if (workers === 1) return [off('One process serves everything: SVC_WORKERS is 1.')]
  const problem = await tcpProblem({ port: sniPort, host, reusePort: true })
  if (problem?.code === 'ENOTSUP') return [error('SVC_WORKERS: this system takes only 1.')]
  return [ok(`${workers} processes share TCP port ${sniPort}.`)]
}

export async function checkMetrics(settings: Settings, options: CheckOptions): Promise<Found[]> {
  const { metricsAddress: address } = settings
  if (address === undefined) return [off('METRICS_ADDR is not set.')]
  return await checkPlainHttp('METRICS_ADDR', address, 'Metrics are served', settings, options)
}

export async function checkRedirects(settings: Settings, options: CheckOptions): Promise<Found[]> {
  const { httpRedirectAddress: address } = settings
  if (address === undefined) return [off('HTTP_REDIRECT_ADDR is not set.')]
  return await checkPlainHttp('HTTP_REDIRECT_ADDR', address, 'Requests are redirected', settings, options)
}

async function checkPlainHttp(
  setting: string,
  address: { host?: string | undefined; port: number },
  does: string,
  settings: Settings,
  { isRestart }: CheckOptions,
): Promise<Found[]> {
  const place = `${address.host ?? 'every address,'} port ${address.port}`
  const problem = await tcpProblem(address satisfies ListenOptions)
  const isOurs = problem?.code === 'EADDRINUSE' && isRestart && (await askHealth(settings)).isServing
  return problem === undefined || isOurs
    ? [ok(`${does} at ${place}, over plain HTTP.`)]
    : [error(`${setting}: the relay cannot listen at ${place}: ${problem.message}.`)]
}
