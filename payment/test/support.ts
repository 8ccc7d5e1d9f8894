// A facilitator on local full nodes over HTTP, for tests.

import { Ledger } from '../../tools/sui-node/ledger.ts'
import { type RunningSuiNode, type SuiNodeOptions, startSuiNode } from '../../tools/sui-node/server.ts'
import { createFacilitator, type Facilitator } from '../src/index.ts'
import { MemoryJournal } from './memory-journal.ts'
import { PAY_TO, PAYER } from './payments.ts'

export interface TestFacilitator {
  facilitator: Facilitator
  journal: MemoryJournal
  /** Nodes of one chain. The first one is asked first. */
  nodes: RunningSuiNode[]
  clock: { now: number }
  /** The recipient's balance. */
  received(): bigint
  /** Calls of a method at all nodes. */
  calls(method: string): number
  /** Starts another facilitator, as after a crash. Default: with the same journal. */
  restart(journal?: MemoryJournal): Promise<Facilitator>
  close(): Promise<void>
}

/** The payer has 1 USDC in its address balance, and the epoch is 100. */
export async function startFacilitator(count = 1, options: SuiNodeOptions = {}): Promise<TestFacilitator> {
  const ledger = new Ledger()
  ledger.epoch = 100n
  const nodes = await Promise.all(Array.from({ length: count }, () => startSuiNode({ ledger, ...options })))
  nodes[0]!.node.chain.fund(PAYER.toSuiAddress(), 1_000_000n)
  const clock = { now: Date.now() }
  const first = new MemoryJournal()
  const restart = (journal = first): Promise<Facilitator> =>
    createFacilitator({
      network: 'sui:testnet',
      payTo: PAY_TO,
      journal,
      endpoints: nodes.map(({ url }) => url),
      now: () => clock.now,
    })
  return {
    facilitator: await restart(),
    journal: first,
    nodes,
    clock,
    received: () => nodes[0]!.node.chain.balance(PAY_TO),
    calls: (method) => nodes.flatMap(({ node }) => node.calls).filter((name) => name === method).length,
    restart,
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()))
    },
  }
}
