// `/wallet?address=…`: GET says how much play money a visitor's wallet has, and POST gives it some more.
import type { PlayMoney } from './play-money.ts'

/** Cents that a wallet gets at once. */
const GIFT_CENTS = 3
/** Gifts that the page makes until it is opened again: each may be a further entry of its chain. */
export const GIFTS_MAX = 1_000
const ADDRESS = /^0x[0-9a-f]{64}$/

export class WalletRoute {
  readonly #money: Pick<PlayMoney, 'balance' | 'give'>
  #gifts = 0

  constructor(money: Pick<PlayMoney, 'balance' | 'give'>) {
    this.#money = money
  }

  answer({ method, url }: Request): Response {
    const address = new URL(url).searchParams.get('address') ?? ''
    if (!ADDRESS.test(address)) return new Response('No address of a wallet\n', { status: 400 })
    if (method === 'POST') {
      if (this.#gifts >= GIFTS_MAX) return new Response('There is no more play money\n', { status: 503 })
      this.#gifts += 1
      this.#money.give(address, GIFT_CENTS)
    }
    return Response.json(
      { cents: this.#money.balance(address) },
      { headers: { 'Cache-Control': 'no-store' } },
    )
  }
}
