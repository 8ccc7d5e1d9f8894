// `svc` runs one command until it is done or a signal ends it, and exits with a code that says how it went.

import { join, resolve } from 'node:path'
import { identityFromKey } from '@svc/sdk-core'
import { loadIdentityFile } from '../identity/identity-file.ts'
import { showRelays } from './commands/show-relays.ts'
import { shareStatus, showStatus } from './commands/status-socket.ts'
import type { TunnelContext } from './commands/tunnel.ts'
import { TunnelSupervisor } from './commands/tunnel-supervisor.ts'
import { readConfig } from './config/read-config.ts'
import { writeTemplate } from './config/template.ts'
import {
  type ParsedCommand,
  parseCommandLine,
  type SiteCommand,
  settingsFolder,
} from './options/command-line.ts'
import { EXIT, type ExitCode } from './report/exit-codes.ts'
import { explainError } from './report/explain-error.ts'
import { makeReporter, type Reporter } from './report/report.ts'
import { StatusStore } from './report/status-store.ts'
import { startTui } from './tui/tui.ts'

/** The exit code after a second signal, which does not wait until leases are unregistered: they expire by themselves. */
const INSISTED = 130

/** Milliseconds for which unfinished connections may hold up the exit. */
const EXIT_GRACE_MS = 500

const { env, stdout } = process
const statusFolder = join(settingsFolder(env), 'run')

const chosen = parseCommandLine(process.argv.slice(2), env)
process.exitCode = 'exitCode' in chosen ? chosen.exitCode : await obey(chosen)
setTimeout(() => process.exit(), EXIT_GRACE_MS).unref()

async function obey(chosen: ParsedCommand): Promise<ExitCode> {
  const { json } = chosen.options
  let tell = makeReporter(json)
  try {
    if (chosen.command === 'expose' || chosen.command === 'serve') return await runShown([chosen], json, tell)
    if (chosen.command === 'start') {
      const commands = await readConfig(chosen.options.config, env)
      tell = makeReporter(json, commands.length > 1)
      return await runShown(commands, json, tell)
    }
    return await execute(chosen, tell)
  } catch (error) {
    const { code, message, exitCode } = explainError(error)
    if (exitCode !== EXIT.ok) tell({ event: 'failed', code, message, exit_code: exitCode })
    return exitCode
  }
}

async function execute(
  chosen: Exclude<ParsedCommand, SiteCommand | { command: 'start' }>,
  tell: Reporter,
): Promise<ExitCode> {
  switch (chosen.command) {
    case 'status':
      await showStatus(statusFolder, tell)
      return EXIT.ok
    case 'relays':
      return showRelays(chosen.options, tell)
    case 'config init':
      tell({ event: 'config', path: await writeTemplate(chosen.path) })
      return EXIT.ok
    case 'identity': {
      const { identityPath } = chosen.options
      const { address } = identityFromKey(await loadIdentityFile(identityPath))
      tell({ event: 'identity', address, path: resolve(identityPath) })
      return EXIT.ok
    }
  }
}

/** Runs tunnels with a live view where there is a terminal for it, and answers `svc status`. */
async function runShown(
  commands: readonly SiteCommand[],
  isJson: boolean,
  print: Reporter,
): Promise<ExitCode> {
  const signal = asked()
  const store = new StatusStore()
  const hasTerminal = !isJson && stdout.isTTY && env.TERM !== 'dumb'
  const areSeveral = commands.length > 1
  const view = hasTerminal ? startTui(stdout, { store, print, areSeveral }) : { tell: print, close: () => {} }
  signal.addEventListener('abort', () => view.close(), { once: true })
  let status: Promise<{ close(): void } | undefined> | undefined
  const begun = async (): Promise<void> => {
    // Windows has no Unix sockets in its file system
    if (process.platform === 'win32') return
    status ??= shareStatus(statusFolder, store).catch((error) => {
      const { code, message } = explainError(error)
      print({ event: 'error', code, message })
      return undefined
    })
    await status
  }
  try {
    return await runTunnels(commands, { tell: view.tell, store, begun, areSeveral }, signal)
  } finally {
    view.close()
    ;(await status)?.close()
  }
}

/**
 * Runs all tunnels until `signal` aborts or they have ended by themselves.
 * @returns the exit code of the first command that did not end well
 * @throws SvcError the first error, when no relay took any of them
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

/** The returned signal aborts at the first SIGINT or SIGTERM; at the second one the process exits. */
function asked(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(INSISTED)
      controller.abort()
    })
  return controller.signal
}
