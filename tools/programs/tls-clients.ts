// Finds the clients of the TLS interop tests: where one is missing and cannot be installed, its row is skipped.
import { spawnSync } from 'node:child_process'
import { ensureCertutil, ensureChromium } from './chromium.ts'
import { aptGet, ensure } from './install.ts'

/** @returns the environment in which the tests find Chromium */
export function ensureTlsClients(): Record<string, string> {
  if (ensure(findGnutls, [aptGet('gnutls-bin')]) === undefined)
    console.log('No gnutls-cli: its row is skipped (Debian gnutls-bin).')
  try {
    ensureCertutil()
    return { CHROMIUM_PATH: ensureChromium() }
  } catch (error) {
    console.log(`${(error as Error).message} Its row is skipped.`)
    return {}
  }
}

function findGnutls(): true | undefined {
  return spawnSync('gnutls-cli', ['--version']).error === undefined ? true : undefined
}
