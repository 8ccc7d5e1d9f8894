// The browser that the end-to-end tests drive, and what makes it trust a certificate authority: found or installed.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chromium } from '@playwright/test'

const SYSTEM_CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** A download or a Debian package, in milliseconds. */
const INSTALL_TIMEOUT_MS: number = 5 * 60_000

/** The path of a Chromium that is there: the one asked for, the system's, else Playwright's own. */
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

/** `certutil` puts a CA into the database of roots that Chromium on Linux reads. @throws as above */
export function ensureCertutil(): void {
  if (ensure(findCertutil, [aptGet('libnss3-tools')]) === undefined)
    throw new Error('No certutil: install the NSS tools (Debian libnss3-tools, Fedora nss-tools).')
}

function findCertutil(): true | undefined {
  return spawnSync('certutil', ['-H']).error === undefined ? true : undefined
}

/** Looks, and runs one install command after the other until there is something to be found. */
function ensure<T>(find: () => T | undefined, installs: string[][]): T | undefined {
  for (const command of installs) {
    const found = find()
    if (found !== undefined) return found
    run(command)
  }
  return find()
}

function aptGet(name: string): string[] {
  const install = `apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q ${name}`
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get') ? ['sh', '-c', install] : []
}

function run([command, ...args]: string[]): void {
  if (command === undefined) return
  console.log(`Installing: ${[command, ...args].join(' ')}`)
  const { stdout, stderr, status } = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: INSTALL_TIMEOUT_MS,
  })
  if (status !== 0) console.log(`It failed:\n${stdout}${stderr}`)
}
