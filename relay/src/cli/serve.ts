// Runs the command `svc-relay`: a relay with the environment's settings, until a signal or a fatal error.

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type CaFormat, exportCa } from '../certificates/ca-export.ts'
import { IDENTITY_PATH_DEFAULT } from '../config/settings.ts'
import { type Relay, readSettings, SettingsError, startRelay } from '../index.ts'
import { DRAIN_MS } from '../limits.ts'
import { closeOnFatalErrors } from '../log/fatal-errors.ts'
import { createLog } from '../log/log.ts'
import { StateFileError } from '../storage/state-file.ts'
import { readCommandLine } from './command-line.ts'

const USAGE_ERROR = 2

const printed = readCommandLine(process.argv.slice(2))
if (printed === undefined) await run()
else if ('format' in printed) await printCa(printed.format)
else if (printed.isError) {
  console.error(printed.text)
  process.exitCode = USAGE_ERROR
} else console.log(printed.text)

async function run(): Promise<void> {
  try {
    const settings = readSettings(process.env)
    const log = createLog(settings.logLevel)
    let relay: Relay | undefined
    closeOnFatalErrors({ log: () => log, close: async () => await relay?.close({ drainMs: DRAIN_MS }) })
    relay = await startRelay(settings, log)
    handleSignals(relay)
  } catch (error) {
    console.error(`svc-relay: ${messageOf(error)}`)
    process.exitCode = 1
  }
}

async function printCa(format: CaFormat): Promise<void> {
  const file = path.join(process.env.IDENTITY_PATH || IDENTITY_PATH_DEFAULT, 'ca.pem')
  try {
    process.stdout.write(await exportCa(await readFile(file, 'utf8'), format))
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const reason = isMissing
      ? 'does not exist: a relay on localhost creates it when it starts'
      : 'is not a certificate'
    console.error(`svc-relay: ${file} ${reason}`)
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
  const { code, port } = error as NodeJS.ErrnoException & { port?: number }
  if (code === 'EADDRINUSE')
    return `another program listens on port ${port}: end it, or set SVC_URL to an address with another port`
  if (code === 'EACCES' && port !== undefined)
    return `port ${port} needs more privileges; set SNI_PORT to another port`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
