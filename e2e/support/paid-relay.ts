// Runs a relay that takes payments on a chain of its own, for the specs of payments.
import type { TestType } from '@playwright/test'
import { startTestRelay } from '../../tools/relay/test-relay.ts'
import { type RunningSuiNode, startSuiNode } from '../../tools/sui-node/server.ts'
import { test as base } from '../fixtures.ts'

export const PAY_TO = `0x${'5e'.repeat(32)}`
export const ADMIN_TOKEN = 'a-long-random-value'

type PaidTest =
  typeof base extends TestType<infer T, infer W> ? TestType<T, W & { chain: RunningSuiNode }> : never

export const test: PaidTest = base.extend<object, { chain: RunningSuiNode }>({
  chain: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
    async ({}, use) => {
      const chain = await startSuiNode()
      await use(chain)
      await chain.close()
    },
    { scope: 'worker' },
  ],
  relay: [
    async ({ chain }, use) => {
      const env = {
        ADMIN_TOKEN,
        X402_ENABLED: 'true',
        X402_TESTNET: 'true',
        X402_PAY_TO: PAY_TO,
        X402_ENDPOINTS: chain.url,
      }
      const relay = await startTestRelay({ env })
      await use(relay)
      await relay.stop()
    },
    { scope: 'worker' },
  ],
})
