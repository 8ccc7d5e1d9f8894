// `svc agent run --foreground`: the agent from its state directory to the end of its last tunnel.

import { realpath } from 'node:fs/promises'
import { collectWhenIdle } from '@svc/node-kit/idle-collection'
import type { AgentEndpoint } from '../../agent/api-messages.ts'
import { CONTROL_ADDR_DEFAULT, resolveControlAddress } from '../../agent/control-address.ts'
import { type ControlServer, startControlServer } from '../../agent/control-server.ts'
import { claimEndpoint, findRunning, releaseEndpoint } from '../../agent/endpoint-file.ts'
import { agentApi } from '../../agent/endpoints.ts'
import { AgentError } from '../../agent/errors.ts'
import { LogFile } from '../../agent/log-file.ts'
import type { PageAnswer } from '../../agent/page.ts'
import { newSecret } from '../../agent/secrets.ts'
import { StateDirectory } from '../../agent/state-directory.ts'
import { removeDrafts } from '../../identity/private-file.ts'
import { RELEASE_VERSION } from '../../version.ts'
import { ProcessInspector } from '../commands/process-inspector.ts'
import { share } from '../commands/share.ts'
import { TunnelSupervisor } from '../commands/tunnel-supervisor.ts'
import { pageSettings, readUserSettings } from '../config/user-settings.ts'
import { explainError } from '../report/explain-error.ts'
import type { Report, Reporter } from '../report/report.ts'
import { StatusStore } from '../report/status-store.ts'
import { AgentCore } from './agent-core.ts'
import { ConfigFile } from './config-file.ts'

export interface AgentRun {
  configPath: string
  stateDirectory: string
  isDetached: boolean
  env: NodeJS.ProcessEnv
  /** The folder of the sockets for `svc status`. */
  statusFolder: string
  /** Prints reports, in addition to the log; the first one has the agent's address. */
  print: Reporter
  /** Ends the agent. */
  signal: AbortSignal
  /** Whether SIGHUP reloads svc.toml; in a terminal it ends the program. */
  reloadsAtHangup: boolean
}

/**
 * Runs the agent until it is asked to end.
 * @throws AgentError when there can be no agent, SvcError `invalid_option` for a broken svc.toml
 */
export async function runAgent(run: AgentRun): Promise<void> {
  const directory = new StateDirectory(run.stateDirectory)
  await directory.open()
  const { env } = run
  const remembered = await readUserSettings(env)
  const identityPath = (name: string | undefined): string => directory.identity(name)
  const file = new ConfigFile(run.configPath, { env, remembered, identityPath })
  const config = await file.load()
  const address = await resolveControlAddress(config.agent.controlAddr ?? CONTROL_ADDR_DEFAULT)
  const log = new LogFile(directory.log)
  const store = new StatusStore()
  const tell = (report: Report): void => {
    log.write(report)
    store.recentErrors.record(report)
    if (!run.isDetached) run.print(report)
  }
  const asked = new AbortController()
  run.signal.addEventListener('abort', () => asked.abort(), { once: true })
  const sharing = sharedStatus(run.statusFolder, store, tell)
  const inspector = new ProcessInspector(true, (error) => core.failed(error))
  const context = { tell, store, begun: sharing.begin, areSeveral: true, inspector }
  const supervisor = new TunnelSupervisor(context)
  const core = new AgentCore(config, {
    file,
    supervisor,
    store,
    tell,
    logPath: directory.log,
    isDetached: run.isDetached,
    defaultRelay: env.SVC_URL || remembered.relay,
    inspector,
    onShutdown: () => asked.abort(),
    onWallets: (isAllowed) => server?.signIns.keepWallets(isAllowed),
  })
  const token = newSecret()
  const server: ControlServer = await startControlServer(
    address,
    token,
    agentApi(core, loadPage, pageSettings(env)),
  ).catch((error) => throwIfRunning(error, directory.endpoint))
  const endpoint: AgentEndpoint = {
    url: server.url,
    token,
    pid: process.pid,
    started_at: new Date().toISOString(),
    release_version: RELEASE_VERSION,
  }
  try {
    await claimEndpoint(directory.endpoint, endpoint)
    await removeDrafts(directory.endpoint)
    await removeDrafts(await realpath(file.path))
    await serve(run, { core, log, url: server.url, asked: asked.signal, configPath: file.path })
    await releaseEndpoint(directory.endpoint, endpoint)
  } finally {
    await server.close()
    await sharing.close()
    await log.flush()
  }
}

/** @throws AgentError that names the agent that runs already, or else `error` */
async function throwIfRunning(error: unknown, endpoint: string): Promise<never> {
  const running = await findRunning(endpoint)
  if (running === undefined) throw error
  throw new AgentError('agent_running', `an agent is already running at ${running.url} (pid ${running.pid})`)
}

/** Loads the page on demand, because most clients are not browsers. */
async function loadPage(path: string): Promise<PageAnswer | undefined> {
  const { pageAnswer } = await import('../../agent/page.ts')
  return await pageAnswer(path)
}

interface Serving {
  core: AgentCore
  log: LogFile
  url: string
  configPath: string
  asked: AbortSignal
}

async function serve(run: AgentRun, { core, log, url, configPath, asked }: Serving): Promise<void> {
  const stopCollecting = collectWhenIdle()
  // In the background, nobody sees Node's own message.
  const ending = (error: unknown): void => {
    const { code, message } = explainError(error)
    log.writeNow({ event: 'error', code, message })
  }
  process.on('uncaughtExceptionMonitor', ending)
  const reload = (): void => void core.reload().catch((error) => core.failed(error))
  if (run.reloadsAtHangup) process.on('SIGHUP', reload)
  const report = { event: 'agent', state: 'running', url, pid: process.pid, config: configPath } as const
  log.write(report)
  run.print(report)
  core.start()
  if (!asked.aborted)
    await new Promise<void>((resolve) => asked.addEventListener('abort', () => resolve(), { once: true }))
  process.off('SIGHUP', reload)
  await core.close()
  log.write({ ...report, state: 'stopped' })
  process.off('uncaughtExceptionMonitor', ending)
  stopCollecting()
}

/** Makes `svc status`, `svc knock` and `svc share` show the agent's tunnels too. */
function sharedStatus(
  folder: string,
  store: StatusStore,
  tell: Reporter,
): { begin(): Promise<void>; close(): Promise<void> } {
  let status: Promise<{ close(): void } | undefined> | undefined
  return {
    begin: async () => {
      // Windows has no Unix sockets in its file system
      if (process.platform === 'win32') return
      status ??= share(folder, store, { hasKnocks: true, hasShares: true }).catch((error) => {
        const { code, message } = explainError(error)
        tell({ event: 'error', code, message })
        return undefined
      })
      await status
    },
    close: async () => (await status)?.close(),
  }
}
