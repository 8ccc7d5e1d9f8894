// Says whether the chain takes a transaction up, before it runs: its network, its epochs, its gas, its commands and its funds.
import { normalizeStructTag, normalizeSuiAddress } from '@mysten/sui/utils'
import { isGaslessCall, type Programmable, type TransactionData } from './commands.ts'
import type { CoinObject, Ledger } from './ledger.ts'
import { invalid } from './status.ts'

/** The facts that transactions are judged by. */
interface Rules {
  chainId: string
  ledger: Ledger
  /** Types of coin that are paid without gas, in their normal form. */
  gaslessTypes: readonly string[]
  /** Says whether a transaction may expire at a time. */
  timestamps: boolean
}

interface Admitted {
  programmable: Programmable
  /** The coin objects of the sender that the transaction takes, by input index. */
  coins: Map<number, CoinObject>
}

export class Admission {
  readonly #chain: Rules

  constructor(chain: Rules) {
    this.#chain = chain
  }

  /**
   * @param lateFunds takes up a payment that there is no money for
   * @throws {Refusal} when the chain does not take the transaction up
   */
  admit(transaction: TransactionData, lateFunds: boolean): Admitted {
    const programmable = transaction.kind.ProgrammableTransaction
    if (!programmable) throw invalid('the node takes programmable transactions alone')
    if (programmable.commands.length === 0) throw invalid('the transaction has no command')
    this.#checkExpiration(transaction)
    const { payment, owner, price, budget } = transaction.gasData
    if (normalizeSuiAddress(owner) !== normalizeSuiAddress(transaction.sender))
      throw invalid('the node takes no sponsored transactions')
    if (payment.length > 0 || price !== '0' || budget !== '0')
      throw invalid('the node takes gasless transactions alone: price and budget are 0, and no coin pays gas')
    if (!isGasless(programmable))
      throw invalid('Feature is not supported: a command is not allowed in gasless transactions')
    this.#checkWithdrawals(transaction, lateFunds)
    return {
      programmable,
      coins: this.#inputCoins(programmable.inputs, normalizeSuiAddress(transaction.sender)),
    }
  }

  #checkExpiration({ expiration }: TransactionData): void {
    const validity = expiration.ValidDuring
    if (!validity) throw invalid('a transaction without gas objects needs the expiration ValidDuring')
    if (validity.chain !== this.#chain.chainId)
      throw invalid(`the transaction is for the chain ${validity.chain}, not for ${this.#chain.chainId}`)
    this.#checkTimestamps(validity)
    if (validity.minEpoch === null || validity.maxEpoch === null)
      throw invalid('both epochs of ValidDuring must be set')
    const [first, last] = [BigInt(validity.minEpoch), BigInt(validity.maxEpoch)]
    if (last < first || last > first + 1n) throw invalid('ValidDuring spans one or two epochs')
    if (this.#chain.ledger.epoch < first || this.#chain.ledger.epoch > last)
      throw invalid(
        `the transaction has expired: it is valid in epochs ${first} to ${last}, not in ${this.#chain.ledger.epoch}`,
      )
  }

  #checkTimestamps({
    minTimestamp,
    maxTimestamp,
  }: {
    minTimestamp: string | null
    maxTimestamp: string | null
  }): void {
    if (minTimestamp === null && maxTimestamp === null) return
    if (!this.#chain.timestamps)
      throw invalid('Feature is not supported: Timestamp-based transaction expiration is not yet supported')
    const now = BigInt(Date.now())
    if (
      (minTimestamp !== null && now < BigInt(minTimestamp)) ||
      (maxTimestamp !== null && now > BigInt(maxTimestamp))
    )
      throw invalid('the transaction has expired: its time has passed or has not begun')
  }

  /** The reserved money must be there before the transaction runs, unless it is found missing late. */
  #checkWithdrawals({ sender, kind }: TransactionData, lateFunds: boolean): void {
    const reserved = new Map<string, bigint>()
    for (const { FundsWithdrawal: withdrawal } of kind.ProgrammableTransaction?.inputs ?? []) {
      if (!withdrawal) continue
      if (!withdrawal.withdrawFrom.Sender) throw invalid('the node takes withdrawals of the sender alone')
      const type = normalizeStructTag(withdrawal.typeArg.Balance)
      const amount = BigInt(withdrawal.reservation.MaxAmountU64)
      if (amount === 0n) throw invalid('a withdrawal reserves more than nothing')
      reserved.set(type, (reserved.get(type) ?? 0n) + amount)
    }
    for (const [type, amount] of reserved) {
      if (!this.#chain.gaslessTypes.includes(type))
        throw invalid(`Feature is not supported: ${type} is not allowed in gasless transactions`)
      const available = this.#chain.ledger.addressBalance(normalizeSuiAddress(sender), type)
      if (amount > available && !lateFunds)
        throw invalid(
          `the address balance has ${available} of ${type}, which is less than the reserved ${amount}`,
        )
    }
  }

  #inputCoins(inputs: Programmable['inputs'], sender: string): Map<number, CoinObject> {
    const coins = new Map<number, CoinObject>()
    for (const [index, { Object: object }] of inputs.entries()) {
      if (!object) continue
      const reference = object.ImmOrOwnedObject
      if (!reference) throw invalid('a gasless transaction has coins of the sender as its only objects')
      const coin = this.#chain.ledger.coin(normalizeSuiAddress(reference.objectId))
      if (!coin || coin.owner !== sender) throw invalid(`the sender has no object ${reference.objectId}`)
      if (coin.version !== BigInt(reference.version) || coin.digest !== reference.digest)
        throw invalid(`object ${reference.objectId} is not available in version ${reference.version}`)
      if (!this.#chain.gaslessTypes.includes(coin.type))
        throw invalid(`Feature is not supported: ${coin.type} is not allowed in gasless transactions`)
      if ([...coins.values()].includes(coin)) throw invalid(`object ${coin.id} is an input twice`)
      coins.set(index, coin)
    }
    return coins
  }
}

function isGasless({ commands }: Programmable): boolean {
  return commands.every(
    ({ MoveCall, SplitCoins, MergeCoins }) =>
      SplitCoins || MergeCoins || (MoveCall && isGaslessCall(MoveCall)),
  )
}
