// `svc agent install` and `svc agent uninstall`: the agent as a service of this system.

import { realpath } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import { dirname, resolve } from 'node:path'
import { SvcError } from '@svc/sdk-core'
import { askAgent } from '../../agent/agent-client.ts'
import { AGENT_PATH, type AgentStatus } from '../../agent/api-messages.ts'
import { findRunning } from '../../agent/endpoint-file.ts'
import { StateDirectory } from '../../agent/state-directory.ts'
import { parseConfig, readConfigText } from '../config/read-config.ts'
import { readUserSettings } from '../config/user-settings.ts'
import type { InstallOptions, UninstallOptions } from '../options/parsed-command.ts'
import { ownCommand } from '../own-command.ts'
import type { Print, Reporter } from '../report/report.ts'
import { installService, uninstallService } from '../service/install.ts'
import { type InstallationPlan, planInstallation } from '../service/installation-plan.ts'
import type { Service } from '../service/service.ts'

/** Variables of the shell that the agent reads, too. */
const VARIABLES = ['SVC_URL', 'NODE_EXTRA_CA_CERTS'] as const
/** Those that say where a user's files are, and are of no use to another account. */
const FOLDER_VARIABLES = ['XDG_CONFIG_HOME', 'XDG_STATE_HOME'] as const

/**
 * Installs and starts the service, or prints the file that describes it.
 * @param stateDirectory where an agent may run that was started by hand
 * @throws SvcError `invalid_option` when svc.toml is broken, an agent runs already, or the system refuses
 */
export async function install(
  options: InstallOptions,
  stateDirectory: string,
  env: NodeJS.ProcessEnv,
  { tell, print }: { tell: Reporter; print: Print },
): Promise<void> {
  const service = await serviceOf(options, env)
  const plan = planFor(service, env)
  if (options.print) {
    print.log(plan.text.trimEnd())
    return
  }
  const context = { env, remembered: await readUserSettings(env), identityPath: () => '' }
  parseConfig(options.config, await readConfigText(options.config), context)
  if (!options.system) await refuseBackground(stateDirectory)
  const notes = await installService(plan)
  tell({ event: 'service', state: 'installed', path: plan.isTemporary ? undefined : plan.path })
  if (process.platform === 'win32' && Object.keys(service.environment).length > 0)
    notes.push(
      `a task of Windows has no variables of its own: set ${Object.keys(service.environment).join(' and ')} with setx`,
    )
  for (const message of notes) tell({ event: 'error', code: 'service_incomplete', message })
}

/** @throws SvcError `invalid_option` when the system refuses */
export async function uninstall(
  { system }: UninstallOptions,
  env: NodeJS.ProcessEnv,
  tell: Reporter,
): Promise<void> {
  const service: Service = {
    command: ['svc'],
    environment: {},
    writable: [],
    // what the service's account was is of no importance for its end
    account: system ? 'nobody' : undefined,
  }
  const plan = planFor(service, env)
  await uninstallService(plan)
  tell({ event: 'service', state: 'removed', path: plan.isTemporary ? undefined : plan.path })
}

async function serviceOf(
  { config, stateDir, system, account }: InstallOptions,
  env: NodeJS.ProcessEnv,
): Promise<Service> {
  const [program = '', ...before] = ownCommand()
  const path = resolve(config)
  // a link may lead to the file
  const folder = dirname(await realpath(path).catch(() => path))
  const names = system ? VARIABLES : [...VARIABLES, ...FOLDER_VARIABLES]
  const entries = names.flatMap((name) => {
    const value = env[name]
    if (!value) return []
    return [[name, name === 'SVC_URL' ? value : resolve(value)]]
  })
  return {
    command: [
      program,
      ...before,
      ...['agent', 'run', '--foreground', '--config', path],
      ...(stateDir === undefined ? [] : ['--state-dir', resolve(stateDir)]),
    ],
    environment: Object.fromEntries(entries),
    writable: [folder, ...(stateDir === undefined ? [] : [resolve(stateDir)])],
    account: system ? accountOf(account, env) : undefined,
  }
}

/** @throws SvcError `invalid_option` when nobody says whose the service is */
function accountOf(account: string | undefined, env: NodeJS.ProcessEnv): string {
  const name = account ?? (env.SUDO_USER || undefined)
  if (name === undefined)
    throw new SvcError(
      'invalid_option',
      'a service of the system runs under an account: name one with --account',
    )
  return name
}

function planFor(service: Service, env: NodeJS.ProcessEnv): InstallationPlan {
  const { platform } = process
  return planInstallation(service, {
    platform,
    env,
    home: homedir(),
    user: userInfo().username,
    uid: process.getuid?.(),
  })
}

/** An agent that `svc agent run` started has the state directory, so that the service could not start. */
async function refuseBackground(stateDirectory: string): Promise<void> {
  const running = await findRunning(new StateDirectory(stateDirectory).endpoint)
  if (running === undefined) return
  const { detached, pid } = await askAgent<AgentStatus>(running, 'GET', AGENT_PATH.status)
  if (detached)
    throw new SvcError(
      'invalid_option',
      `an agent runs in the background (pid ${pid}): end it with svc agent stop first`,
    )
}
