// A relay that has downloads of svc: its landing page offers the lines that install it, and the one for a shell does.

import { execFileSync } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PROGRAM_SLUGS } from '@svc/protocol'
import { programText, writeDownloads } from '../relay/test/support/downloads.ts'
import { startTestRelay, type TestRelay } from '../tools/relay/test-relay.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'
import { expectCopies } from './support/copy-buttons.ts'
import { expectAccessible, expectFits } from './support/example-page.ts'
import { openWeb, WIDTHS_PX } from './support/relay-page.ts'

const VERSION = '1.2.3'

const test = base.extend({
  relay: async ({ oncePerFile }, use) => use(await oncePerFile('relay', startRelayWithDownloads)),
})

async function startRelayWithDownloads(): Promise<TestRelay> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-e2e-downloads-'))
  await writeDownloads(
    directory,
    Object.fromEntries(PROGRAM_SLUGS.map((slug) => [slug, programText(VERSION, slug)])),
  )
  const relay = await startTestRelay({ env: { SVC_INSTALL_DIR: directory } })
  const stop = async (): Promise<void> => {
    await relay.stop()
    await rm(directory, { recursive: true })
  }
  return { ...relay, stop }
}

wholeOnly(test, 'variant')(
  'its line installs svc as it was copied, and each system has its own',
  async ({ context, relay }, info) => {
    const { page, errors } = await openWeb(context, relay.url)
    await page.getByRole('tab', { name: /^svc$/ }).click()
    await page.getByText('Install svc', { exact: true }).click()
    await expect(page.getByText('On Windows, in PowerShell')).toBeVisible()
    await expectFits({ installation: page }, info, WIDTHS_PX)
    await expectAccessible(page)
    const copied = await expectCopies(page)
    expect(copied).toContain(`irm ${relay.url}/api/install.ps1 | iex`)
    const line = copied.find((text) => text.includes('/api/install.sh'))!
    const home = await mkdtemp(path.join(tmpdir(), 'svc-e2e-home-'))
    await copyFile(relay.caFile, path.join(home, 'svc-ca.pem'))
    execFileSync('sh', ['-c', line], {
      cwd: home,
      env: { ...process.env, HOME: home, SVC_INSTALL_DIR: home },
      stdio: 'pipe',
    })
    expect(String(execFileSync(path.join(home, 'svc'), ['--version']))).toBe(`${VERSION}\n`)
    await rm(home, { recursive: true })
    expect(errors).toEqual([])
  },
)
