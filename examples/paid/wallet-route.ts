// `/wallet?address=…`: GET says how much play money a visitor's wallet has, and POST gives it some more.
import { say } from '../shared/refusals.ts'
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

  answer(request: Request): Response {
    const { method, url } = request
    const address = new URL(url).searchParams.get('address') ?? ''
    if (!ADDRESS.test(address)) return say(request, 400, 'No address of a wallet')
    if (method === 'POST') {
      if (this.#gifts >= GIFTS_MAX) return say(request, 503, 'There is no more play money')
      this.#gifts += 1
      this.#money.give(address, GIFT_CENTS)
    }
    return Response.json(
      { cents: this.#money.balance(address) },
      { headers: { 'Cache-Control': 'no-store' } },
    )
  }
}
