// Checks where the relay would listen for visitors, and how many connections it could hold.

import { tcpProblem } from '../../core/check/bind.ts'
import { type CheckOptions, error, type Found, ok } from '../../core/check/finding.ts'
import { askHealth } from '../../core/check/health.ts'
import { measureCapacity } from '../../core/config/capacity.ts'
import type { Settings } from '../../core/config/settings.ts'
import { listenProblem } from '../../core/ingress/listen.ts'

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
