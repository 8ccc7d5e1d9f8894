// Play money: a chain that runs in this page, and a facilitator that checks and carries out payments on it. It needs the
// libraries of payments, which no other part of the examples does, so that the page loads it when it opens.
import {
  createFacilitator,
  type Facilitator,
  openLogJournal,
  type PaymentJournal,
} from '@svc/sdk-browser/payment'
import { SuiNode } from '../../tools/sui-node/node.ts'
import { centsOf, unitsOf } from './cents.ts'

/** The chain calls itself the test network, whose money is worth nothing either. */
export const NETWORK = 'sui:testnet'

/** Nobody listens there: requests to it are answered in this page. */
const NODE_URL = 'https://chain.invalid'

/** A payment to the seller. */
interface Sale {
  /** Digest of the transaction. */
  id: string
  payer: string
  cents: number
}

export interface PlayMoney {
  facilitator: Facilitator
  /** Cents that the address has. */
  balance(address: string): number
  /** Makes money for an address out of nothing. */
  give(address: string, cents: number): void
  /** The payments, the latest first. */
  sales(): Sale[]
}

/**
 * @param payTo address of the seller
 * @param onChange called when money was made or moved
 */
export async function openPlayMoney(payTo: string, onChange: () => void): Promise<PlayMoney> {
  const node = new SuiNode({ network: NETWORK })
  const { chain } = node
  chain.onChange = onChange
  const facilitator = await createFacilitator({
    network: NETWORK,
    payTo,
    journal: await journalInMemory(),
    endpoints: [NODE_URL],
    fetch: node.fetch as typeof fetch,
  })
  return {
    facilitator,
    balance: (address) => centsOf(chain.balance(address)),
    give: (address, cents) => chain.fund(address, unitsOf(cents)),
    sales: () =>
      chain.ledger
        .history()
        .flatMap(({ digest, changes }) => {
          const income = changes.find(({ address }) => address === payTo)
          const payer = changes.find(({ amount }) => amount < 0n)
          return income && payer ? [{ id: digest, payer: payer.address, cents: centsOf(income.amount) }] : []
        })
        .reverse(),
  }
}

/** The money ends with the page, and so may what the facilitator knows of payments. */
function journalInMemory(): Promise<PaymentJournal> {
  let text: string | undefined
  return openLogJournal({
    read: async () => text,
    append: async (added) => {
      text = (text ?? '') + added
    },
    replace: async (whole) => {
      text = whole
    },
  })
}
