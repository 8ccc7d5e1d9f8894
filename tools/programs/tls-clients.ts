// The clients of the TLS interop tests: a row whose client is not there, and cannot be had, is skipped.
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
