// `agent-endpoint.json`: the address of a state directory's agent, and the bearer token. The file belongs to one agent.

import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm } from 'node:fs/promises'
import { isRecord } from '@svc/sdk-core'
import { createPrivateFile, readPrivateFile } from '../identity/private-file.ts'
import { askAgent } from './agent-client.ts'
import { AGENT_PATH, type AgentEndpoint, type AuthStatus } from './api-messages.ts'
import { AgentError } from './errors.ts'

/**
 * Writes the endpoint atomically, unless a running agent has one there.
 * @throws AgentError `agent_running`, `state_unusable`
 */
export async function claimEndpoint(path: string, endpoint: AgentEndpoint): Promise<void> {
  try {
    const before = await readFile(path, 'utf8').catch(() => undefined)
    if (before !== undefined) {
      await refuseRunning(path)
      await removeStale(path, before)
    }
    await createPrivateFile(path, textOf(endpoint))
    // Another agent that started at the same moment was faster.
    if ((await readFile(path, 'utf8')) !== textOf(endpoint)) throw running(await readEndpoint(path))
  } catch (cause) {
    if (cause instanceof AgentError) throw cause
    throw new AgentError('state_unusable', `${path} cannot be written`, cause)
  }
}

/** Removes the endpoint if it is still this agent's. */
export async function releaseEndpoint(path: string, endpoint: AgentEndpoint): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === textOf(endpoint)) await rm(path, { force: true }).catch(() => {})
}

/** Resolves with the endpoint of the file; undefined when there is none or it is unreadable. */
export async function readEndpoint(path: string): Promise<AgentEndpoint | undefined> {
  try {
    const endpoint: unknown = JSON.parse(await readPrivateFile(path, 'invalid_option'))
    return isEndpoint(endpoint) ? endpoint : undefined
  } catch {
    return undefined
  }
}

/** Resolves with the endpoint of the running agent; undefined when a killed agent left the file. */
export async function findRunning(path: string): Promise<AgentEndpoint | undefined> {
  const endpoint = await readEndpoint(path)
  if (endpoint === undefined) return undefined
  try {
    const { role } = await askAgent<AuthStatus>(endpoint, 'GET', AGENT_PATH.authStatus)
    // Another program or another agent may listen there now.
    return role === 'owner' ? endpoint : undefined
  } catch {
    return undefined
  }
}

async function refuseRunning(path: string): Promise<void> {
  const found = await findRunning(path)
  if (found !== undefined) throw running(found)
}

function running(endpoint: AgentEndpoint | undefined): AgentError {
  const where = endpoint === undefined ? '' : ` at ${endpoint.url} (pid ${endpoint.pid})`
  return new AgentError('agent_running', `an agent is already running${where}`)
}

/** Removes a file that a killed agent left, but not one that another agent wrote meanwhile. */
async function removeStale(path: string, text: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`
  await rename(path, aside)
  const isStale = (await readFile(aside, 'utf8')) === text
  // `link` never replaces a file.
  if (!isStale) await link(aside, path).catch(() => {})
  await rm(aside, { force: true })
}

function textOf(endpoint: AgentEndpoint): string {
  return `${JSON.stringify(endpoint, null, 2)}\n`
}

function isEndpoint(value: unknown): value is AgentEndpoint {
  if (!isRecord(value)) return false
  const { url, token, pid } = value
  return typeof url === 'string' && URL.canParse(url) && typeof token === 'string' && Number.isInteger(pid)
}
