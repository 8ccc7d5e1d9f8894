// `svc agent install` and `svc agent uninstall`: the agent as a system service.

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

/** Variables of the shell that the agent also reads. */
const VARIABLES = ['SVC_URL', 'NODE_EXTRA_CA_CERTS'] as const
/** Variables for a user's folders, which are useless for another account. */
const FOLDER_VARIABLES = ['XDG_CONFIG_HOME', 'XDG_STATE_HOME'] as const

/**
 * Installs and starts the service, or prints its file.
 * @param stateDirectory the state directory, where a manually started agent may run
 * @throws SvcError `invalid_option` when svc.toml is invalid, an agent is already running, or the system refuses
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
  await parseConfig(options.config, await readConfigText(options.config), context)
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
    // The account does not matter for removal.
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
  // The path may be a symbolic link.
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

/** @throws SvcError `invalid_option` when no account is given */
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

/** Refuses while an agent of `svc agent run` uses the state directory, because the service could not start. */
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
