// The browser of the demo: a fresh profile that trusts the certificates of one relay, and is thrown away.
import { createHash, X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { type BrowserContext, chromium } from '@playwright/test'
import { findChromium } from '../../tools/programs/chromium.ts'

const WINDOW = '1120,920'

/** @throws Error that says what to install, or that there is no screen */
export function requireBrowser(isHeadless: boolean): string {
  const found = findChromium()
  if (found === undefined)
    throw new Error(
      'there is no Chromium, Chrome or Edge: install one, or run `npx playwright install chromium`, or name yours in CHROMIUM_PATH',
    )
  if (!existsSync(found)) throw new Error(`there is no browser at ${found}, which CHROMIUM_PATH names`)
  const { DISPLAY, WAYLAND_DISPLAY } = process.env
  if (!isHeadless && process.platform === 'linux' && !DISPLAY && !WAYLAND_DISPLAY)
    throw new Error('there is no screen here (DISPLAY): `npm run demo -- --headless` plays without one')
  return found
}

interface Opened {
  executablePath: string
  isHeadless: boolean
  /** The profile is made in it. */
  folder: string
  /** The relay's state directory. */
  identityPath: string
}

export async function openBrowser({
  executablePath,
  isHeadless,
  folder,
  identityPath,
}: Opened): Promise<BrowserContext> {
  const profile = path.join(folder, 'profile')
  await mkdir(profile)
  const [ca, chain] = await Promise.all(
    ['ca.pem', 'fullchain.pem'].map((name) => readFile(path.join(identityPath, name))),
  )
  return await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: isHeadless,
    // Of the window, which the user may resize.
    viewport: null,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    // Its bar says that a test drives the browser; without it, a bar would say that of our flags.
    ignoreDefaultArgs: ['--enable-automation'],
    args: [
      '--test-type',
      `--window-size=${WINDOW}`,
      // Only certificates with these keys, and only in this profile.
      `--ignore-certificate-errors-spki-list=${[ca!, chain!].map(keyDigest).join(',')}`,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--no-first-run',
      '--no-default-browser-check',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

/** @param pem whose first certificate counts */
function keyDigest(pem: Buffer): string {
  const key = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(key).digest('base64')
}
