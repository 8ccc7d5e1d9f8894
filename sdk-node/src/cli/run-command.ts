// Runs one command of `svc`, from its arguments to its exit code, and loads only what the command needs. The caller provides
// the printer and the signal to end.

import { join, resolve } from 'node:path'
import { collectWhenIdle } from '@svc/node-kit/idle-collection'
import { identityFromKey } from '@svc/sdk-core'
import { loadIdentityFile } from '../identity/identity-file.ts'
import { hasHttp } from './commands/expose-options.ts'
import { ProcessInspector } from './commands/process-inspector.ts'
import { share } from './commands/share.ts'
import type { ShareSource } from './commands/share-links.ts'
import { showStatus } from './commands/status-socket.ts'
import type { TunnelContext } from './commands/tunnel.ts'
import { TunnelSupervisor } from './commands/tunnel-supervisor.ts'
import {
  pageSettings,
  readUserSettings,
  setSetting,
  settingOf,
  unsetSetting,
  withRemembered,
} from './config/user-settings.ts'
import { canBeShared } from './options/access-options.ts'
import { parseCommandLine, settingsFolder } from './options/command-line.ts'
import type { AgentCommand, DomainCommand, ParsedCommand, SiteCommand } from './options/parsed-command.ts'
import { EXIT, type ExitCode } from './report/exit-codes.ts'
import { explainError } from './report/explain-error.ts'
import type { Reporter } from './report/report.ts'
import { makeReporter } from './report/reporter.ts'
import { StatusStore } from './report/status-store.ts'
import type { Surroundings } from './surroundings.ts'
import type { Tui } from './tui/tui.ts'

/** Runs the command until it is done or asked to end. */
export async function runCommand(args: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  const chosen = parseCommandLine(args, surroundings.env, surroundings.print)
  return 'exitCode' in chosen ? chosen.exitCode : await obey(chosen, surroundings)
}

async function obey(chosen: ParsedCommand, surroundings: Surroundings): Promise<ExitCode> {
  const { json } = chosen.options
  const { env, print } = surroundings
  let tell = makeReporter(json, print)
  try {
    if (chosen.command === 'expose' || chosen.command === 'serve')
      return await runShown([await remembering(chosen, env)], json, tell, surroundings)
    if (chosen.command === 'start') {
      const { readConfig } = await import('./config/read-config.ts')
      const commands = await readConfig(chosen.options.config, env)
      tell = makeReporter(json, print, commands.length > 1)
      return await runShown(commands, json, tell, surroundings)
    }
    if (isOfAgent(chosen)) {
      const { obeyAgent } = await import('./agent/obey-agent.ts')
      return await obeyAgent(chosen, tell, surroundings, statusFolder(env))
    }
    if (isOfDomain(chosen)) {
      const { obeyDomain } = await import('./commands/domain.ts')
      return await obeyDomain(await remembering(chosen, env), tell, surroundings)
    }
    if (chosen.command === 'demo') {
      const { showDemo } = await import('./commands/demo.ts')
      return await showDemo((await remembering(chosen, env)).options, tell, surroundings)
    }
    return await execute(chosen, tell, env)
  } catch (error) {
    const { code, message, exitCode } = explainError(error)
    if (exitCode !== EXIT.ok) tell({ event: 'failed', code, message, exit_code: exitCode })
    return exitCode
  }
}

/** Returns the command with the relays of the user's settings. */
async function remembering<T extends Extract<ParsedCommand, { options: { relay: string[] } }>>(
  chosen: T,
  env: NodeJS.ProcessEnv,
): Promise<T> {
  return { ...chosen, options: withRemembered(chosen.options, await readUserSettings(env)) }
}

async function execute(
  chosen: Exclude<ParsedCommand, SiteCommand | AgentCommand | DomainCommand | { command: 'start' | 'demo' }>,
  tell: Reporter,
  env: NodeJS.ProcessEnv,
): Promise<ExitCode> {
  if (isOfConfig(chosen)) {
    await configure(chosen, tell, env)
    return EXIT.ok
  }
  switch (chosen.command) {
    case 'status':
      await showStatus(statusFolder(env), tell)
      return EXIT.ok
    case 'knock list': {
      const { listKnocks } = await import('./commands/knock-socket.ts')
      await listKnocks(statusFolder(env), tell)
      return EXIT.ok
    }
    case 'knock admit':
    case 'knock refuse': {
      const { answerKnock } = await import('./commands/knock-socket.ts')
      const { command, code, options } = chosen
      const answer = { code, admit: command === 'knock admit', always: options.always }
      await answerKnock(statusFolder(env), answer, tell)
      return EXIT.ok
    }
    case 'share': {
      const { obeyShare } = await import('./commands/share-links.ts')
      await obeyShare(await shareSource(env), chosen, tell)
      return EXIT.ok
    }
    case 'webhook list': {
      const { listWebhooks } = await import('./commands/send-webhook.ts')
      listWebhooks(tell)
      return EXIT.ok
    }
    case 'webhook send': {
      const { sendWebhook } = await import('./commands/send-webhook.ts')
      const { ca = (await readUserSettings(env)).ca } = chosen.options
      return await sendWebhook({ ...chosen, options: { ...chosen.options, ca } }, tell, statusFolder(env))
    }
    case 'relays': {
      const { showRelays } = await import('./commands/show-relays.ts')
      return showRelays((await remembering(chosen, env)).options, tell)
    }
    case 'doctor': {
      const { examine } = await import('./commands/doctor.ts')
      return await examine((await remembering(chosen, env)).options, tell, statusFolder(env))
    }
    case 'hash-password': {
      const { hashPassword } = await import('./commands/hash-password.ts')
      tell({ event: 'hash', hash: await hashPassword() })
      return EXIT.ok
    }
    case 'completion': {
      const { completionScript } = await import('./completion/completion.ts')
      tell({ event: 'completion', script: completionScript(chosen.shell) })
      return EXIT.ok
    }
    case 'identity': {
      const { identityPath } = chosen.options
      const { address } = identityFromKey(await loadIdentityFile(identityPath))
      tell({ event: 'identity', address, path: resolve(identityPath) })
      return EXIT.ok
    }
  }
}

type ConfigCommand = Extract<ParsedCommand, { command: `config ${string}` }>

async function configure(chosen: ConfigCommand, tell: Reporter, env: NodeJS.ProcessEnv): Promise<void> {
  switch (chosen.command) {
    case 'config init': {
      const { writeTemplate } = await import('./config/template.ts')
      tell({ event: 'config', path: await writeTemplate(chosen.path) })
      break
    }
    case 'config set':
      tell({ event: 'setting', key: chosen.key, value: await setSetting(env, chosen.key, chosen.values) })
      break
    case 'config unset':
      await unsetSetting(env, chosen.key)
      tell({ event: 'setting', key: chosen.key })
      break
    case 'config get':
      tell({ event: 'value', key: chosen.key, value: await settingOf(env, chosen.key) })
      break
    case 'config list':
      for (const [key, value] of Object.entries(await readUserSettings(env)))
        if (value !== undefined) tell({ event: 'setting', key, value })
      break
  }
}

function isOfConfig(chosen: ParsedCommand): chosen is ConfigCommand {
  return chosen.command.startsWith('config ')
}

function isOfAgent(chosen: ParsedCommand): chosen is AgentCommand {
  return chosen.command.startsWith('agent ')
}

function isOfDomain(chosen: ParsedCommand): chosen is DomainCommand {
  return chosen.command.startsWith('domain ')
}

function statusFolder(env: NodeJS.ProcessEnv): string {
  return join(settingsFolder(env), 'run')
}

/** Windows has no Unix sockets in its file system: there the agent alone can be asked. */
async function shareSource(env: NodeJS.ProcessEnv): Promise<ShareSource> {
  if (process.platform !== 'win32')
    return (await import('./commands/share-socket.ts')).tunnelsAtSockets(statusFolder(env))
  const [{ tunnelsAtAgent }, { stateDirectoryOf }] = await Promise.all([
    import('./commands/share-agent.ts'),
    import('../agent/state-directory.ts'),
  ])
  return tunnelsAtAgent(resolve(stateDirectoryOf(env)))
}

/** Runs tunnels, with a live view if there is a terminal, and answers `svc status`. */
async function runShown(
  commands: readonly SiteCommand[],
  isJson: boolean,
  print: Reporter,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { env, terminal, asked } = surroundings
  const signal = asked()
  const stopCollecting = collectWhenIdle()
  const live = isJson || env.TERM === 'dumb' ? undefined : terminal
  const store = new StatusStore(live ? undefined : print)
  const areSeveral = commands.length > 1
  const hasKnocks = commands.some(({ options }) => options.knock)
  const hasShares = commands.some(({ options }) => canBeShared(options))
  const keyboard = live && (hasKnocks || commands.some(hasHttp)) ? surroundings.keyboard : undefined
  const failed = (error: unknown): void => {
    const { code, message } = explainError(error)
    view.tell({ event: 'error', code, message })
  }
  const inspector = new ProcessInspector(keyboard !== undefined, failed, pageSettings(env))
  const look = commands.some(hasHttp) ? () => inspector.look() : undefined
  const view: Pick<Tui, 'tell' | 'close'> = live
    ? (await import('./tui/tui.ts')).startTui(live, { store, print, areSeveral, keyboard, hasKnocks, look })
    : { tell: print, close: () => {} }
  signal.addEventListener('abort', () => view.close(), { once: true })
  let status: Promise<{ close(): void } | undefined> | undefined
  const begun = async (): Promise<void> => {
    if (commands.some(({ options }) => options.inspect)) await inspector.start().catch(failed)
    // Windows has no Unix sockets in its file system
    if (process.platform === 'win32') return
    status ??= share(statusFolder(env), store, { hasKnocks, hasShares }).catch((error) => {
      const { code, message } = explainError(error)
      print({ event: 'error', code, message })
      return undefined
    })
    await status
  }
  try {
    return await runTunnels(commands, { tell: view.tell, store, begun, areSeveral, inspector }, signal)
  } finally {
    view.close()
    stopCollecting()
    ;(await status)?.close()
    await inspector.close()
  }
}

/**
 * Runs all tunnels until `signal` aborts or they have ended.
 * @returns the exit code of the first command that failed
 * @throws SvcError the first error, when no relay accepted any of them
 */
async function runTunnels(
  commands: readonly SiteCommand[],
  context: TunnelContext,
  signal: AbortSignal,
): Promise<ExitCode> {
  const supervisor = new TunnelSupervisor(context)
  signal.addEventListener('abort', () => void supervisor.close(), { once: true })
  const failures: unknown[] = []
  const ends = commands.map(async (command) => {
    const { exitCode, error } = await supervisor.add(command).ended
    if (error !== undefined) failures.push(error)
    return exitCode
  })
  const codes = await Promise.all(ends)
  if (failures.length === commands.length) throw failures[0]
  return codes.find((code) => code !== EXIT.ok) ?? EXIT.ok
}
