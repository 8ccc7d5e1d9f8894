// Carries out a command of `svc agent`.

import { resolve } from 'node:path'
import { LOG_LINES_MAX } from '../../agent/api-messages.ts'
import { stateDirectoryOf } from '../../agent/state-directory.ts'
import type { AgentCommand } from '../options/parsed-command.ts'
import { EXIT, type ExitCode } from '../report/exit-codes.ts'
import type { Reporter } from '../report/report.ts'
import type { Surroundings } from '../surroundings.ts'
import { openPage, showAgent, showLogs, stopAgent, stopForRestart } from './agent-commands.ts'

/** @param statusFolder the folder of the sockets for `svc status` */
export async function obeyAgent(
  chosen: AgentCommand,
  tell: Reporter,
  surroundings: Surroundings,
  statusFolder: string,
): Promise<ExitCode> {
  const { env, print, terminal, asked } = surroundings
  const stateDirectory = resolve(chosen.options.stateDir ?? stateDirectoryOf(env))
  switch (chosen.command) {
    case 'agent run': {
      const { config, foreground, detached: isDetached } = chosen.options
      if (!foreground) return await runInBackground(resolve(config), stateDirectory, env, tell)
      const { runAgent } = await import('./run-agent.ts')
      const reloadsAtHangup = terminal === undefined
      const signal = asked(reloadsAtHangup)
      const run = { configPath: config, stateDirectory, isDetached, env, statusFolder, print: tell }
      await runAgent({ ...run, signal, reloadsAtHangup })
      return EXIT.ok
    }
    case 'agent stop':
      await stopAgent(stateDirectory, tell)
      return EXIT.ok
    case 'agent restart':
      return await runInBackground(await stopForRestart(stateDirectory, tell), stateDirectory, env, tell)
    case 'agent status':
      await showAgent(stateDirectory, tell)
      return EXIT.ok
    case 'agent open':
      await openPage(stateDirectory, tell)
      return EXIT.ok
    case 'agent dashboard': {
      const { showDashboard } = await import('./dashboard-command.ts')
      await showDashboard(stateDirectory, surroundings)
      return EXIT.ok
    }
    case 'agent install': {
      const { install } = await import('./service-commands.ts')
      await install(chosen.options, stateDirectory, env, { tell, print })
      return EXIT.ok
    }
    case 'agent uninstall': {
      const { uninstall } = await import('./service-commands.ts')
      await uninstall(chosen.options, env, tell)
      return EXIT.ok
    }
    case 'agent logs': {
      const { lines, json } = chosen.options
      await showLogs(stateDirectory, { lines: Math.min(Math.max(1, lines || 1), LOG_LINES_MAX), json }, print)
      return EXIT.ok
    }
  }
}

async function runInBackground(
  config: string,
  stateDirectory: string,
  env: NodeJS.ProcessEnv,
  tell: Reporter,
): Promise<ExitCode> {
  const { runDetached } = await import('./detach.ts')
  return await runDetached(['--config', config, '--state-dir', stateDirectory], env, tell)
}
