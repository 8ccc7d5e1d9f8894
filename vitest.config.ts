// Unit and integration tests: every package's test folder, in Node, and the few that are for both in a browser, too. The
// rest of what needs a browser is end to end (playwright.config.ts).
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { FEATURES_OFF } from './tools/browser/chromium.ts'
import { LongTestsFirst } from './tools/long-tests-first.ts'
import { findChromium } from './tools/programs/chromium.ts'
import { TEST_TIMEOUT_MS, WAIT_TIMEOUT_MS } from './tools/test-timeouts.ts'

const NODE_TESTS =
  '{protocol,yamux,tls,payment,node-kit,dns,relay,relay/web,sdk-core,sdk-browser,sdk-node,sdk-node/web,examples,scripts,tools}/test/**/*.test.ts'
const BROWSER_TESTS = 'sdk-browser/test/**/*.browser.test.ts'

const SETUP = [
  'tools/wait-longer.ts',
  'relay/test/support/without-overload.ts',
  'relay/test/support/scrypt-once.ts',
]
const BUNDLED = 'tools/bundled-programs.ts'
/** Tests of datagrams, which are late, and dropped, on a machine without time for them: they come last, alone. */
const DATAGRAM_TESTS = '{relay/test/datagram,sdk-node/test/datagram}/**/*.test.ts'
/**
 * Tests that count on the state that a module has at first, that measure the memory or the processor time of
 * their process, or that replace modules, which the tests after them would get too: each has a process of its own.
 */
const OWN_PROCESS = [
  'relay/test/api/http/slow-fields.test.ts',
  'relay/test/datagram/flow-table.test.ts',
  'relay/test/lease/corrupt-journal.test.ts',
  'relay/test/model/control.test.ts',
  'relay/test/rate-limit/client-rate-limits.test.ts',
  // They replace the global Request and Response, and expect them of the platform.
  'sdk-browser/test/globals/install.test.ts',
  'sdk-browser/test/msw/node.test.ts',
  // They count timers, also those of what earlier files of a process have left.
  'protocol/test/timers.test.ts',
  'sdk-core/test/http2/discarded-requests.test.ts',
  'sdk-core/test/websocket/deflate.test.ts',
  'sdk-node/test/carrier/many-connections.test.ts',
  ...globSync(NODE_TESTS, { cwd: import.meta.dirname }).filter(replacesModules),
]

export default defineConfig({
  test: {
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
    expect: { poll: { timeout: WAIT_TIMEOUT_MS } },
    // Three for each core that CI has: most of the time of most files is waiting for deadlines of the real clock.
    maxWorkers: 6,
    sequence: { sequencer: LongTestsFirst },
    // Tests of deadlines wait side by side.
    maxConcurrency: 10,
    // Its cache of transformed modules does not notice that a package.json exports something else.
    fsModuleCache: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          globalSetup: BUNDLED,
          include: [NODE_TESTS],
          exclude: [BROWSER_TESTS, DATAGRAM_TESTS, ...OWN_PROCESS],
          setupFiles: SETUP,
          // A process runs one file after another and loads each module once: a fifth of the processor time is saved.
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'node, isolated', include: OWN_PROCESS, setupFiles: SETUP, globalSetup: BUNDLED },
      },
      {
        extends: true,
        test: {
          name: 'node, alone',
          globalSetup: BUNDLED,
          include: [DATAGRAM_TESTS],
          exclude: OWN_PROCESS,
          setupFiles: SETUP,
          isolate: false,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        // msw's service worker
        publicDir: path.join(import.meta.dirname, 'node_modules/msw/lib'),
        test: {
          name: 'browser',
          include: [BROWSER_TESTS],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: {
                executablePath: findChromium(),
                args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', FEATURES_OFF],
              },
            }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
    ],
  },
})

/** @param file as {@link NODE_TESTS} finds it */
function replacesModules(file: string): boolean {
  return /\bvi\.(mock|doMock|resetModules)\(/.test(readFileSync(path.join(import.meta.dirname, file), 'utf8'))
}
