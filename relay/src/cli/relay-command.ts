// Runs a relay with the environment's settings, until a signal or a fatal error.

import { constants } from 'node:os'
import { collectWhenIdle } from '@svc/node-kit/idle-collection'
import { listenProblem } from '../core/ingress/listen.ts'
import { closeOnFatalErrors } from '../core/log/fatal-errors.ts'
import { createLog } from '../core/log/log.ts'
import { DRAIN_MS } from '../core/shutdown.ts'
import { StateFileError } from '../core/storage/state-file.ts'
import { type Relay, readSettings, SettingsError, startRelay } from '../index.ts'

/** Exit codes of processes that a signal ends, as in a shell: this plus the signal's number. */
const SIGNAL_EXIT_CODE = 128

/** Resolves when the relay listens, or could not start and the exit code is set. */
export async function run(): Promise<void> {
  try {
    const settings = readSettings(process.env)
    const log = createLog(settings.logLevel)
    let relay: Relay | undefined
    closeOnFatalErrors({ log: () => log, close: async () => await relay?.close({ drainMs: DRAIN_MS }) })
    // Before the start: a program that reads "listening" may send a signal at once.
    handleSignals(() => relay)
    relay = await startRelay(settings, log)
    collectWhenIdle()
  } catch (error) {
    console.error(`svc-relay: ${messageOf(error)}`)
    process.exitCode = 1
  }
}

/**
 * The first signal starts the drain, and the second one ends it. A relay that has not started ends at once, as without
 * a handler.
 * @param relayOf the relay, once it has started
 */
function handleSignals(relayOf: () => Relay | undefined): void {
  let isDraining = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      const relay = relayOf()
      if (relay === undefined) process.exit(SIGNAL_EXIT_CODE + constants.signals[signal])
      relay.close({ drainMs: isDraining ? 0 : DRAIN_MS })
      isDraining = true
    })
  process.on('SIGHUP', () => relayOf()?.reload())
}

function messageOf(error: unknown): string {
  if (error instanceof SettingsError || error instanceof StateFileError) return error.message
  const problem = listenProblem(error)
  if (problem !== undefined) return problem
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
