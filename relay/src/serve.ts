// What `svc-relay` does: settings from the environment, one relay, an orderly end on a signal.

import { readCommandLine } from './command-line.ts'
import { type Relay, readSettings, SettingsError, startRelay } from './index.ts'
import { DRAIN_MS } from './limits.ts'

const USAGE_ERROR = 2

const printed = readCommandLine(process.argv.slice(2))
if (printed?.isError) {
  console.error(printed.text)
  process.exitCode = USAGE_ERROR
} else if (printed) console.log(printed.text)
else await run()

async function run(): Promise<void> {
  try {
    obey(await startRelay(readSettings(process.env)))
  } catch (error) {
    console.error(`svc-relay: ${explain(error)}`)
    process.exitCode = 1
  }
}

/** The first signal asks, the second insists. */
function obey(relay: Relay): void {
  let isAsked = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      relay.close({ drainMs: isAsked ? 0 : DRAIN_MS })
      isAsked = true
    })
  process.on('SIGHUP', () => relay.reload())
}

function explain(error: unknown): string {
  if (error instanceof SettingsError) return error.message
  const { code, port } = error as NodeJS.ErrnoException & { port?: number }
  if (code === 'EADDRINUSE') return `port ${port} is in use; set SNI_PORT to another one`
  if (code === 'EACCES' && port !== undefined)
    return `port ${port} needs more rights; set SNI_PORT to another one`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
