// Dedicated ports of sites as a feature. A relay without a range of them loads none of their code.

import { hostPort } from '@svc/node-kit/host-port'
import type { Feature, Prepared, Running } from '../../feature.ts'
import { datagrams } from '../datagrams/index.ts'
import type { DedicatedPorts } from './dedicated-ports.ts'
import { portSettings } from './settings.ts'

export interface RunningPorts extends Running {
  ports: DedicatedPorts
}

export const ports: Feature<RunningPorts, Prepared> = {
  needs: [datagrams],
  settings: portSettings,
  checks: {
    'TCP ports': async (settings) => (await import('./check.ts')).checkTcpPorts(settings),
    'UDP ports': async (settings, options) => (await import('./check.ts')).checkUdpPorts(settings, options),
  },
  isOn: ({ portRange }) => portRange !== undefined,
  prepare: async (settings, log) => {
    if (settings.portRange === undefined) return undefined
    const { findPortHost } = await import('./port-host.ts')
    const { current, close } = await findPortHost(settings, log)
    return { portHost: current, close }
  },
  start: async (core, running) => {
    const { createDedicatedPorts } = await import('./port-listeners.ts')
    const { settings, capacity, state, dataPlane } = core
    const { portHost, sniPort } = settings
    const tunnels = running.get(datagrams)
    return {
      tunnelAddress: portHost === undefined ? undefined : hostPort(portHost, sniPort),
      ports: createDedicatedPorts({
        ...core,
        policy: state.policy,
        reservations: state.journal.reservations,
        visitors: dataPlane.visitorServer,
        connectionsMax: capacity.portConnections,
        // If all ports of the range may be open at once, the range is the only limit, and the error then names it.
        listenersMax: capacity.hasFewListeners ? capacity.portListeners : Number.POSITIVE_INFINITY,
        tunnels,
      }),
    }
  },
}
