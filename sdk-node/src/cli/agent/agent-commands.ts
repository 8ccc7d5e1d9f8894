// The commands of `svc agent` except `run`: they call the agent of a state directory, or read its log.

import { setTimeout as pause } from 'node:timers/promises'
import { askAgent } from '../../agent/agent-client.ts'
import { AGENT_PATH, type AgentEndpoint, type AgentStatus, type Ticket } from '../../agent/api-messages.ts'
import { findRunning, readEndpoint } from '../../agent/endpoint-file.ts'
import { AgentError } from '../../agent/errors.ts'
import { lastLines } from '../../agent/log-file.ts'
import { StateDirectory } from '../../agent/state-directory.ts'
import { printable } from '../report/printable.ts'
import type { Print, Reporter } from '../report/report.ts'
import { formatReport } from '../report/reporter.ts'

/** The deadline for the agent to end its tunnels, in milliseconds. */
const STOP_DEADLINE_MS = 60_000
/** The interval at which the command checks whether it has ended, in milliseconds. */
const STOP_LOOK_MS = 100

/** @throws AgentError `agent_unavailable` */
export async function requireAgent(stateDirectory: string): Promise<AgentEndpoint> {
  const { endpoint } = new StateDirectory(stateDirectory)
  const running = await findRunning(endpoint)
  if (running !== undefined) return running
  const left = await readEndpoint(endpoint)
  const why = left === undefined ? '' : `; the one at ${left.url} (pid ${left.pid}) is gone`
  throw new AgentError('agent_unavailable', `no agent is running${why}: svc agent run starts one`)
}

/** Reports the agent and each of its tunnels. */
export async function showAgent(stateDirectory: string, tell: Reporter): Promise<void> {
  const status = await askAgent<AgentStatus>(await requireAgent(stateDirectory), 'GET', AGENT_PATH.status)
  const { url, pid, config, started_at } = status
  tell({ event: 'agent', state: 'running', url, pid, config: config.path, error: config.error })
  for (const { name: tunnel, state, failure, retry_at, relays } of status.tunnels) {
    for (const relay of relays) tell({ event: 'status', pid, started_at, tunnel, ...relay })
    if (relays.length === 0) tell({ event: 'tunnel', tunnel, state, failure, retry_at })
  }
}

/** Ends the agent, and waits until it has. */
export async function stopAgent(stateDirectory: string, tell: Reporter): Promise<AgentStatus> {
  const endpoint = await requireAgent(stateDirectory)
  const status = await askAgent<AgentStatus>(endpoint, 'GET', AGENT_PATH.status)
  await askAgent(endpoint, 'POST', AGENT_PATH.shutdown, {})
  const { url, pid, config } = status
  const deadline = performance.now() + STOP_DEADLINE_MS
  while (await answers(endpoint)) {
    if (performance.now() > deadline)
      throw new AgentError('agent_unavailable', `the agent (pid ${pid}) has not ended within a minute`)
    await pause(STOP_LOOK_MS)
  }
  tell({ event: 'agent', state: 'stopped', url, pid, config: config.path })
  return status
}

/** Ends a background agent, and resolves with the config file to restart it with. */
export async function stopForRestart(stateDirectory: string, tell: Reporter): Promise<string> {
  const endpoint = await requireAgent(stateDirectory)
  const { detached } = await askAgent<AgentStatus>(endpoint, 'GET', AGENT_PATH.status)
  if (!detached)
    throw new AgentError(
      'agent_running',
      `the agent (pid ${endpoint.pid}) runs in the foreground: restart it where it was started, such as with systemctl`,
    )
  return (await stopAgent(stateDirectory, tell)).config.path
}

/** Reports the URL of the agent's page, with a one-time ticket. */
export async function openPage(stateDirectory: string, tell: Reporter): Promise<void> {
  const { url, expires_at } = await askAgent<Ticket>(
    await requireAgent(stateDirectory),
    'POST',
    AGENT_PATH.ticket,
    {},
  )
  tell({ event: 'page', url, expires_at })
}

/** Prints the last lines of the log: JSON objects, or text. */
export async function showLogs(
  stateDirectory: string,
  { lines, json }: { lines: number; json: boolean },
  print: Print,
): Promise<void> {
  for (const line of await lastLines(new StateDirectory(stateDirectory).log, lines)) {
    const text = json ? line : logText(line)
    if (text !== undefined) print.log(text)
  }
}

/** @returns undefined for a line that is only for machines */
function logText(line: string): string | undefined {
  try {
    const { time, message, ...report } = JSON.parse(line)
    const text = formatReport({ ...report, message }, true) ?? message
    return text && printable(`${time}  ${text}`)
  } catch {
    // A line that was cut off when the process was killed.
    return printable(line)
  }
}

/** The agent answers until its last tunnel has ended. */
function answers(endpoint: AgentEndpoint): Promise<boolean> {
  return askAgent(endpoint, 'GET', AGENT_PATH.authStatus).then(
    () => true,
    () => false,
  )
}
