// The end-to-end suite: a real relay, real Chromium, real curl. What they start is in e2e/fixtures.ts.
import { defineConfig, type PlaywrightTestConfig } from '@playwright/test'
import { atDepth } from './tools/test-depth.ts'

const config: PlaywrightTestConfig = defineConfig({
  testDir: 'e2e',
  globalSetup: './e2e/setup.ts',
  outputDir: 'test-results',
  reporter: 'list',
  fullyParallel: false,
  forbidOnly: true,
  retries: 0,
  // Each worker has a relay and a browser of its own. One more than there are cores: many tests wait for a clock.
  workers: 3,
  // They end what hangs: a machine may be several times slower than another.
  timeout: 180_000,
  globalTimeout: atDepth(30, 11) * 60_000,
  expect: { timeout: 60_000 },
})

export default config
