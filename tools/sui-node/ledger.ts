// The ledger of the local chain: address balances, coins and executed transactions, all in memory, each bounded.

/** Coin objects and executed transactions that one ledger holds at most: far more than a test makes. */
const MAX_ENTRIES = 50_000

/** Amount that no balance exceeds: amounts on the chain are unsigned 64-bit numbers. */
const MAX_AMOUNT = 2n ** 64n - 1n

/** A coin object, as it is on the chain beside the address balance of its owner. */
export interface CoinObject {
  id: string
  owner: string
  /** Type of the coin, in its normal form. */
  type: string
  amount: bigint
  version: bigint
  digest: string
}

/** Change of one address in one type of coin; negative for a payment. */
export interface BalanceChange {
  address: string
  type: string
  amount: bigint
}

/** A transaction that the chain has taken up, whether it succeeded or not. */
export interface Executed {
  digest: string
  /** BCS form of the transaction. */
  bytes: Uint8Array
  signatures: Uint8Array[]
  /** Kind and text of the failure; absent when the transaction succeeded. */
  failure?: { kind: number; description: string; command?: number }
  changes: BalanceChange[]
  epoch: bigint
  checkpoint: bigint
  /** Milliseconds since 1970. */
  time: number
}

export class Ledger {
  /** Key: owner and type of coin. */
  readonly #balances = new Map<string, bigint>()
  readonly #coins = new Map<string, CoinObject>()
  readonly #executed = new Map<string, Executed>()
  epoch = 1_000n
  checkpoint = 1n

  /** @returns what the address holds of `type` without coin objects */
  addressBalance(owner: string, type: string): bigint {
    return this.#balances.get(`${owner} ${type}`) ?? 0n
  }

  /** @returns the sum of the coin objects of `owner` */
  coinBalance(owner: string, type: string): bigint {
    return this.coins(owner, type).reduce((sum, { amount }) => sum + amount, 0n)
  }

  /** The types of coin of which the address holds something. */
  types(owner: string): string[] {
    const types = new Set(this.coins(owner).map(({ type }) => type))
    for (const [key, amount] of this.#balances) {
      const [address, type] = key.split(' ') as [string, string]
      if (address === owner && amount > 0n) types.add(type)
    }
    return [...types].sort()
  }

  coins(owner: string, type?: string): CoinObject[] {
    return [...this.#coins.values()].filter(
      (coin) => coin.owner === owner && (type === undefined || coin.type === type),
    )
  }

  coin(id: string): CoinObject | undefined {
    return this.#coins.get(id)
  }

  executed(digest: string): Executed | undefined {
    return this.#executed.get(digest)
  }

  /** The executed transactions, oldest first. */
  history(): Executed[] {
    return [...this.#executed.values()]
  }

  /** Adds to an address balance, or takes from it. The caller has checked that enough is there. */
  change(owner: string, type: string, amount: bigint): void {
    const next = this.addressBalance(owner, type) + amount
    if (next < 0n || next > MAX_AMOUNT) throw new RangeError(`an address balance cannot be ${next}`)
    if (this.#balances.size >= MAX_ENTRIES) throw new RangeError('the ledger is full of balances')
    this.#balances.set(`${owner} ${type}`, next)
  }

  addCoin(coin: CoinObject): void {
    if (this.#coins.size >= MAX_ENTRIES) throw new RangeError('the ledger is full of coins')
    this.#coins.set(coin.id, coin)
  }

  removeCoin(id: string): void {
    this.#coins.delete(id)
  }

  record(executed: Executed): void {
    if (this.#executed.size >= MAX_ENTRIES) throw new RangeError('the ledger is full of transactions')
    this.#executed.set(executed.digest, executed)
    this.checkpoint = executed.checkpoint + 1n
  }

  /** The whole ledger as text, from which {@link restore} makes the same ledger. */
  save(): string {
    const { epoch, checkpoint } = this
    const state = {
      epoch,
      checkpoint,
      balances: [...this.#balances],
      coins: [...this.#coins.values()],
      executed: this.history(),
    }
    return JSON.stringify(state, (_, value) =>
      typeof value === 'bigint'
        ? { bigint: String(value) }
        : value instanceof Uint8Array
          ? { bytes: [...value] }
          : value,
    )
  }

  static restore(text: string): Ledger {
    const state = JSON.parse(text, (_, value) =>
      typeof value?.bigint === 'string'
        ? BigInt(value.bigint)
        : Array.isArray(value?.bytes)
          ? Uint8Array.from(value.bytes)
          : value,
    )
    const ledger = new Ledger()
    ledger.epoch = state.epoch
    ledger.checkpoint = state.checkpoint
    for (const [key, amount] of state.balances) ledger.#balances.set(key, amount)
    for (const coin of state.coins) ledger.#coins.set(coin.id, coin)
    for (const executed of state.executed) ledger.#executed.set(executed.digest, executed)
    return ledger
  }
}
