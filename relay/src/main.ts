#!/usr/bin/env node
// The executable `svc-relay`: settings from the environment, one relay, an orderly end on a signal.

import { readSettings, SettingsError, startRelay } from './index.ts'

try {
  const relay = await startRelay(readSettings(process.env))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void relay.close())
} catch (error) {
  console.error(`svc-relay: ${explain(error)}`)
  process.exitCode = 1
}

function explain(error: unknown): string {
  if (error instanceof SettingsError) return error.message
  const { code, port } = error as NodeJS.ErrnoException & { port?: number }
  if (code === 'EADDRINUSE') return `port ${port} is in use; set SNI_PORT to another one`
  if (code === 'EACCES' && port !== undefined)
    return `port ${port} needs more rights; set SNI_PORT to another one`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
