// Chromium that trusts certificate authorities the way a person's does: through the NSS database of its home.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { LaunchOptions } from '@playwright/test'
import { findChromium } from '../programs/chromium.ts'

/** Milliseconds for certutil, which is done in a moment or hangs. */
const CERTUTIL_TIMEOUT_MS = 60_000

/** What Playwright turns off: of two switches of this name, the browser takes the last. */
export const PLAYWRIGHT_FEATURES_OFF: readonly string[] = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'TcpPortRandomizationWin',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'msForceBrowserSignIn',
  'msEdgeUpdateLaunchServicesPreferredVersion',
]
/**
 * Processes that each window starts beside its pages, for a list below the address that nobody opens here, and for pages to
 * come: half of the processor time that a window costs.
 */
const PROCESSES_OFF: readonly string[] = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxFullPopup',
  'WebUIOmniboxAimPopup',
  'SpareRendererForSitePerProcess',
]
/** Argument of a Chromium for tests. */
export const FEATURES_OFF: string = `--disable-features=${[...PLAYWRIGHT_FEATURES_OFF, ...PROCESSES_OFF]}`

export interface Home {
  path: string
  remove(): Promise<void>
}

/** A fresh home directory whose Chromium trusts the CA in each of `caFiles` beside the public ones. */
export async function createHome(...caFiles: (string | undefined)[]): Promise<Home> {
  const home = await mkdtemp(path.join(tmpdir(), 'svc-e2e-home-'))
  const database = path.join(home, '.pki/nssdb')
  await mkdir(database, { recursive: true })
  await certutil(database, '-N', '--empty-password')
  for (const [index, caFile] of caFiles.entries())
    if (caFile !== undefined) await certutil(database, '-A', '-t', 'C,,', '-n', `svc-${index}`, '-i', caFile)
  // A browser that was just closed may still write to its profile.
  return { path: home, remove: () => rm(home, { recursive: true, force: true, maxRetries: 5 }) }
}

export function chromiumOptions(home: string): LaunchOptions {
  const executablePath = findChromium()
  return {
    ...(executablePath !== undefined && { executablePath }),
    env: { ...(process.env as Record<string, string>), HOME: home },
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      FEATURES_OFF,
    ],
  }
}

async function certutil(database: string, ...args: string[]): Promise<void> {
  await promisify(execFile)('certutil', ['-d', `sql:${database}`, ...args], { timeout: CERTUTIL_TIMEOUT_MS })
}
