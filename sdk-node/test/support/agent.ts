// An agent in this process, with a home of its own, and requests to its control API as any program can send them.

import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askAgent } from '../../src/agent/agent-client.ts'
import { AGENT_PATH, type AgentEndpoint, type AgentStatus } from '../../src/agent/api-messages.ts'
import { runAgent } from '../../src/cli/agent/run-agent.ts'
import type { Report } from '../../src/cli/report/report.ts'
import { environment } from './svc.ts'

/** A relay that is not there: the tunnels of such an agent try, and the rest of it works. */
export const NOWHERE = 'https://127.0.0.1:1'
/** Port 0: the system chooses one. */
export const ANY_PORT = '[agent]\ncontrol_addr = "127.0.0.1:0"\n'

export interface AgentHome {
  path: string
  config: string
  state: string
  endpointFile: string
  /** Resolves with the text of svc.toml. */
  read(): Promise<string>
  write(text: string): Promise<void>
  endpoint(): Promise<AgentEndpoint>
  remove(): Promise<void>
}

/** @param text of svc.toml */
export async function makeHome(text: string): Promise<AgentHome> {
  const path = await mkdtemp(join(tmpdir(), 'svc-agent-'))
  const state = join(path, 'state')
  const home: AgentHome = {
    path,
    config: join(path, 'svc.toml'),
    state,
    endpointFile: join(state, 'agent-endpoint.json'),
    read: () => readFile(home.config, 'utf8'),
    write: (text) => writeFile(home.config, text),
    endpoint: async () => JSON.parse(await readFile(home.endpointFile, 'utf8')),
    remove: () => rm(path, { recursive: true, force: true }),
  }
  await mkdir(state, { mode: 0o700 })
  await home.write(text)
  return home
}

export interface RunningAgent {
  home: AgentHome
  endpoint: AgentEndpoint
  reports: Report[]
  /** Asks as the owner. */
  ask<Data = object>(method: 'GET' | 'POST', path: string, body?: object): Promise<Data>
  status(): Promise<AgentStatus>
  /** Resolves when the agent has ended. */
  stop(): Promise<void>
}

export async function startAgent(home: AgentHome): Promise<RunningAgent> {
  const controller = new AbortController()
  const reports: Report[] = []
  const running = Promise.withResolvers<void>()
  const ended = runAgent({
    configPath: home.config,
    stateDirectory: home.state,
    isDetached: false,
    env: environment(home.path),
    statusFolder: join(home.path, 'run'),
    print: (report) => {
      reports.push(report)
      if (report.event === 'agent') running.resolve()
    },
    signal: controller.signal,
    reloadsAtHangup: false,
  })
  ended.catch(running.reject)
  await running.promise
  const endpoint = await home.endpoint()
  const ask = <Data>(method: 'GET' | 'POST', path: string, body?: object): Promise<Data> =>
    askAgent<Data>(endpoint, method, path, body)
  return {
    home,
    endpoint,
    reports,
    ask,
    status: () => ask<AgentStatus>('GET', AGENT_PATH.status),
    stop: async () => {
      controller.abort()
      await ended
    },
  }
}

export interface RawAnswer {
  status: number
  headers: IncomingHttpHeaders
  json: { ok?: boolean; data?: never; error?: { code: string; message: string } }
}

/** A request with just these fields, whatever they are. */
export async function send(
  { url }: Pick<AgentEndpoint, 'url'>,
  method: string,
  path: string,
  headers: Record<string, string | string[]> = {},
  body?: string,
): Promise<RawAnswer> {
  const asked = request(`${url}${path}`, { method, headers, agent: false })
  asked.end(body)
  const [response] = await once(asked, 'response')
  const text = Buffer.concat(await response.toArray()).toString()
  return { status: response.statusCode, headers: response.headers, json: JSON.parse(text) }
}
