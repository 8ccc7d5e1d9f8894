// Unit and integration tests: every package's test folder, in Node. The browser is e2e's (playwright.config.ts).
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{protocol,yamux,tls,relay,relay/web,sdk-browser,sdk-node,examples,scripts}/test/**/*.test.ts'],
    testTimeout: 15_000,
    // One more than the cores that CI has: many tests wait for deadlines on the real clock.
    maxWorkers: 3,
    // Tests of deadlines wait side by side.
    maxConcurrency: 10,
    // Its cache of transformed modules does not notice that a package.json exports something else.
    fsModuleCache: false,
  },
})
