// The end-to-end suite: a real relay, real Chromium, real curl. What they start is in e2e/fixtures.ts.
import { defineConfig, type PlaywrightTestConfig } from '@playwright/test'
import { atDepth } from './tools/test-depth.ts'

/**
 * Node tries the addresses of localhost one after another, each for 250 ms by default. A process that gets no time in them
 * finds neither. This holds for all that the suite starts, too.
 */
const ATTEMPT_TIMEOUT = '--network-family-autoselection-attempt-timeout=60000'
if (!process.env.NODE_OPTIONS?.includes(ATTEMPT_TIMEOUT))
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} ${ATTEMPT_TIMEOUT}`

const config: PlaywrightTestConfig = defineConfig({
  testDir: 'e2e',
  globalSetup: './e2e/setup.ts',
  outputDir: 'test-results',
  reporter: 'list',
  snapshotPathTemplate: '{testDir}/baselines/{arg}{ext}',
  // Only who asks for new pictures gets them.
  updateSnapshots: 'none',
  fullyParallel: false,
  forbidOnly: true,
  retries: 0,
  // Each worker has a relay and a browser of its own. Two for each core that CI has: many tests wait for a clock, and all for a browser.
  workers: 4,
  // They end what hangs: a machine may be several times slower than another.
  timeout: 180_000,
  globalTimeout: atDepth(60, 24) * 60_000,
  expect: { timeout: 60_000 },
})

export default config
