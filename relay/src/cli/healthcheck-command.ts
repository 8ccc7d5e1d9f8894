// Runs the command `svc-relay healthcheck`, which starts no relay.

import { askHealth } from '../core/check/health.ts'
import { SettingsError } from '../core/config/settings-error.ts'
import { readSettings } from '../settings.ts'

/** Prints one line about the running relay; the exit code is 1 when it does not serve. */
export async function healthcheck(): Promise<void> {
  const { isServing, message } = await healthOfEnvironment()
  if (isServing) return console.log(`svc-relay: ${message}`)
  console.error(`svc-relay: ${message}`)
  process.exitCode = 1
}

async function healthOfEnvironment(): ReturnType<typeof askHealth> {
  try {
    return await askHealth(readSettings(process.env))
  } catch (error) {
    if (error instanceof SettingsError) return { isServing: false, message: error.message }
    throw error
  }
}
