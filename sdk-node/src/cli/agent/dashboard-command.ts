// `svc agent dashboard`: attaches the live view to the running agent.

import { SvcError } from '@svc/sdk-core'
import { askAgent } from '../../agent/agent-client.ts'
import type { Surroundings } from '../surroundings.ts'
import { showAgent } from '../tui/agent-dashboard.ts'
import { requireAgent } from './agent-commands.ts'

/** @throws SvcError `invalid_option` when there is no terminal, AgentError `agent_unavailable` */
export async function showDashboard(
  stateDirectory: string,
  { terminal, keyboard, asked }: Surroundings,
): Promise<void> {
  if (terminal === undefined || keyboard === undefined)
    throw new SvcError('invalid_option', 'the live view needs a terminal: svc agent status prints the state')
  await requireAgent(stateDirectory)
  // A restarted agent has another token.
  const ask = async <Data>(method: 'GET' | 'POST', path: string, body?: object): Promise<Data> =>
    await askAgent<Data>(await requireAgent(stateDirectory), method, path, body)
  await showAgent(ask, { terminal, keyboard }, asked())
}
