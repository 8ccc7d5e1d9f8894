// For `svc share` where processes have no sockets, as on Windows: the tunnels of the agent, at its control API.

import { SvcError } from '@svc/sdk-core'
import { askAgent } from '../../agent/agent-client.ts'
import {
  AGENT_PATH,
  type AgentEndpoint,
  type AgentShares,
  type AgentStatus,
  type MadeShare,
  type TunnelStatus,
} from '../../agent/api-messages.ts'
import { findRunning } from '../../agent/endpoint-file.ts'
import { StateDirectory } from '../../agent/state-directory.ts'
import type { ShareSource } from './share-links.ts'
import type { SharedSite } from './shared-tunnels.ts'

/** @param stateDirectory that of the agent */
export function tunnelsAtAgent(stateDirectory: string): ShareSource {
  const find = async (): Promise<AgentEndpoint> => {
    const endpoint = await findRunning(new StateDirectory(stateDirectory).endpoint)
    if (endpoint !== undefined) return endpoint
    throw new SvcError(
      'invalid_option',
      'no agent is running: on Windows, share links are for its tunnels, and svc agent run starts it',
    )
  }
  const tunnels = async (endpoint: AgentEndpoint): Promise<TunnelStatus[]> =>
    (await askAgent<AgentStatus>(endpoint, 'GET', AGENT_PATH.status)).tunnels
  return {
    holders: async () => {
      const endpoint = await find()
      const [all, { shares }] = await Promise.all([
        tunnels(endpoint),
        askAgent<AgentShares>(endpoint, 'GET', AGENT_PATH.shares),
      ])
      const holder = {
        sites: all
          .filter((tunnel) => tunnel.can_be_shared)
          .flatMap(sitesOf)
          .filter(({ url }) => url !== ''),
        shares,
        make: ({ tunnel }: SharedSite, options: object) =>
          askAgent<MadeShare>(endpoint, 'POST', AGENT_PATH.makeShare, { name: tunnel, ...options }),
        withdraw: async (id: string) =>
          void (await askAgent(endpoint, 'POST', AGENT_PATH.withdrawShare, { id })),
      }
      return [holder]
    },
    running: async () => (await tunnels(await find())).flatMap(sitesOf),
  }
}

function sitesOf({ name, relays }: TunnelStatus): SharedSite[] {
  return relays.map(({ url = '' }) => ({ tunnel: name, url }))
}
