// Runs a relay with the environment's settings, until a signal or a fatal error.

import { type Relay, readSettings, SettingsError, startRelay } from '../index.ts'
import { listenProblem } from '../lifecycle/listen.ts'
import { DRAIN_MS } from '../limits.ts'
import { closeOnFatalErrors } from '../log/fatal-errors.ts'
import { createLog } from '../log/log.ts'
import { collectWhenIdle } from '../node-internals/idle-collection.ts'
import { StateFileError } from '../storage/state-file.ts'

/** Resolves when the relay listens, or could not start and the exit code says so. */
export async function run(): Promise<void> {
  try {
    const settings = readSettings(process.env)
    const log = createLog(settings.logLevel)
    let relay: Relay | undefined
    closeOnFatalErrors({ log: () => log, close: async () => await relay?.close({ drainMs: DRAIN_MS }) })
    relay = await startRelay(settings, log)
    handleSignals(relay)
    collectWhenIdle()
  } catch (error) {
    console.error(`svc-relay: ${messageOf(error)}`)
    process.exitCode = 1
  }
}

/** The first signal starts the drain, the second one ends it. */
function handleSignals(relay: Relay): void {
  let isDraining = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      relay.close({ drainMs: isDraining ? 0 : DRAIN_MS })
      isDraining = true
    })
  process.on('SIGHUP', () => relay.reload())
}

function messageOf(error: unknown): string {
  if (error instanceof SettingsError || error instanceof StateFileError) return error.message
  const problem = listenProblem(error)
  if (problem !== undefined) return problem
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
