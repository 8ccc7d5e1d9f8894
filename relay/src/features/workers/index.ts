// Worker processes as a feature. A relay of one process loads none of their code.

import type { Feature } from '../../feature.ts'

export const workers: Feature = {
  checks: { workers: async (settings) => (await import('./check.ts')).checkWorkers(settings) },
  isOn: (settings) => settings.workers > 1,
  start: async (core) => {
    const { WorkerPool } = await import('./worker-pool.ts')
    const { settings, state, dataPlane, peers } = core
    const { publicKey } = state.identity
    const machines = (): number => peers.machines?.size ?? 1
    const pool = new WorkerPool({ ...core, ...state, publicKey, machines })
    peers.processes = pool
    const { visitorServer } = dataPlane
    return { listen: (relay) => pool.start(settings.sniPort, { ...relay, visitorServer }) }
  },
}
