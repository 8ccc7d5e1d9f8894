// Runs a relay that takes payments on a chain of its own, for the specs of payments.
import type { TestType } from '@playwright/test'
import { startTestRelay, type TestRelay } from '../../tools/relay/test-relay.ts'
import { type RunningSuiNode, startSuiNode } from '../../tools/sui-node/server.ts'
import { test as base } from '../fixtures.ts'

export const PAY_TO = `0x${'5e'.repeat(32)}`
export const ADMIN_TOKEN = 'a-long-random-value'

type PaidTest =
  typeof base extends TestType<infer T, infer W> ? TestType<T & { chain: RunningSuiNode }, W> : never

export const test: PaidTest = base.extend<{ chain: RunningSuiNode }>({
  chain: async ({ oncePerFile }, use) => {
    const { chain } = await oncePerFile('chain', async () => {
      const chain = await startSuiNode()
      return { chain, stop: () => chain.close() }
    })
    await use(chain)
  },
  relay: async ({ chain, oncePerFile }, use) => use(await oncePerFile('relay', () => startPaidRelay(chain))),
})

async function startPaidRelay(chain: RunningSuiNode): Promise<TestRelay> {
  const env = {
    ADMIN_TOKEN,
    X402_ENABLED: 'true',
    X402_TESTNET: 'true',
    X402_PAY_TO: PAY_TO,
    X402_ENDPOINTS: chain.url,
  }
  return await startTestRelay({ env })
}
