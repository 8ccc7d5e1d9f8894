// Finds or installs the browser that the end-to-end tests drive, and the program that makes it trust a certificate authority.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chromium } from '@playwright/test'
import { aptGet, ensure } from './install.ts'

const SYSTEM_CHROMIUM = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
]

/** The path of an installed Chromium: the one asked for, the system's, else Playwright's own. */
export function findChromium(): string | undefined {
  const asked = process.env.CHROMIUM_PATH
  if (asked) return asked
  return [...SYSTEM_CHROMIUM, chromium.executablePath()].find((file) => existsSync(file))
}

/** @throws Error that says what to install */
export function ensureChromium(): string {
  const install = [['npx', 'playwright', 'install', 'chromium'], aptGet('chromium')]
  const found = ensure(findChromium, install)
  if (found === undefined) throw new Error('No Chromium: install one, or name it in CHROMIUM_PATH.')
  return found
}

/** `certutil` puts a CA into the database of roots that Chromium on Linux reads. @throws Error that says what to install */
export function ensureCertutil(): void {
  if (ensure(findCertutil, [aptGet('libnss3-tools')]) === undefined)
    throw new Error('No certutil: install the NSS tools (Debian libnss3-tools, Fedora nss-tools).')
}

function findCertutil(): true | undefined {
  return spawnSync('certutil', ['-H']).error === undefined ? true : undefined
}
