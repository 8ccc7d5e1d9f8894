// The local chain: it checks a signed transaction as the chain does, and moves the money. It takes gasless payments
// of stablecoins alone, and refuses every other transaction.
import { bcs } from '@mysten/sui/bcs'
import { GrpcTypes } from '@mysten/sui/grpc'
import { TransactionDataBuilder } from '@mysten/sui/transactions'
import { normalizeStructTag, normalizeSuiAddress, toBase64 } from '@mysten/sui/utils'
import { verifyTransactionSignature } from '@mysten/sui/verify'
import { Admission } from './admission.ts'
import { type Outcome, runCommands, type TransactionData } from './commands.ts'
import { type BalanceChange, type CoinObject, type Executed, Ledger } from './ledger.ts'
import { ExecutionFailure, invalid } from './status.ts'

/** Bytes of a transaction. Source: `max_tx_size_bytes` of the chain's protocol configuration. */
const MAX_TRANSACTION_BYTES = 128 * 1024

/** Digests of the first checkpoint of the public networks, which a transaction names so that it is valid on one of them. */
export const CHAIN_IDS = {
  'sui:mainnet': '4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S',
  'sui:testnet': '69WiPg3DAQiwdxfncX6wYQ2siKwAe6L9BZthQea3JNMD',
} as const

export type Network = keyof typeof CHAIN_IDS

/** The stablecoin USDC, of Circle, which has six decimals. Source: its documentation. */
export const USDC: Readonly<Record<Network, string>> = {
  'sui:mainnet': '0xdba34672e30cb065b1f93e3ab55318768fd6fef66c15942c9f7cb846e2f900e7::usdc::USDC',
  'sui:testnet': '0xa1ec7fc00a6f40db9693ad1415d0c193ad3906494428cf252621037bd7117e29::usdc::USDC',
}

export interface ChainOptions {
  /** Default: `sui:testnet`. */
  network?: Network
  /** Types of coin that are paid without gas. Default: {@link USDC} of the network. */
  gaslessTypes?: string[]
  /** Least amount that a gasless transaction gives to an address. Default: 10,000, which is 0.01 USDC. */
  minTransfer?: bigint
  /** Default: false, for the public networks refuse transactions that expire at a time. */
  timestamps?: boolean
  /** A payment without funds is executed and fails, as when another one came first. Default: it is refused at once. */
  lateFunds?: boolean
  /** A ledger that was saved. */
  ledger?: Ledger
}

export class Chain {
  readonly network: Network
  readonly chainId: string
  readonly ledger: Ledger
  lateFunds: boolean
  /** Is called after each change of the ledger. */
  onChange: () => void = () => {}
  readonly #admission: Admission
  readonly #minTransfer: bigint

  constructor(options: ChainOptions = {}) {
    this.network = options.network ?? 'sui:testnet'
    this.chainId = CHAIN_IDS[this.network]
    this.ledger = options.ledger ?? new Ledger()
    this.lateFunds = options.lateFunds ?? false
    this.#minTransfer = options.minTransfer ?? 10_000n
    this.#admission = new Admission({
      chainId: this.chainId,
      ledger: this.ledger,
      gaslessTypes: (options.gaslessTypes ?? [USDC[this.network]]).map(normalizeStructTag),
      timestamps: options.timestamps ?? false,
    })
  }

  /** Gives an address money out of nothing. */
  fund(address: string, amount: bigint, type: string = USDC[this.network]): void {
    this.ledger.change(normalizeSuiAddress(address), normalizeStructTag(type), amount)
    this.onChange()
  }

  /** Gives an address a coin object, which it has to move into its address balance before it can pay from there. */
  fundCoin(address: string, amount: bigint, type: string = USDC[this.network]): CoinObject {
    const coin = {
      id: normalizeSuiAddress(bcs.Address.parse(randomBytes())),
      owner: normalizeSuiAddress(address),
      type: normalizeStructTag(type),
      amount,
      version: 1n,
      digest: bcs.ObjectDigest.parse(Uint8Array.of(32, ...randomBytes())),
    }
    this.ledger.addCoin(coin)
    this.onChange()
    return coin
  }

  /** @returns all that the address holds, as an address balance and as coins */
  balance(address: string, type: string = USDC[this.network]): bigint {
    const [owner, coinType] = [normalizeSuiAddress(address), normalizeStructTag(type)]
    return this.ledger.addressBalance(owner, coinType) + this.ledger.coinBalance(owner, coinType)
  }

  /** Ends the epoch: transactions that were valid until its end are not any more. */
  advanceEpoch(): void {
    this.ledger.epoch += 1n
    this.onChange()
  }

  /**
   * Executes a transaction once; the same transaction again gets what the first one got.
   * @throws {Refusal} when the chain does not take it up
   */
  async execute(bytes: Uint8Array, signatures: Uint8Array[]): Promise<Executed> {
    const transaction = parseTransaction(bytes)
    await verifySender(bytes, transaction, signatures)
    const digest = TransactionDataBuilder.getDigestFromBytes(bytes)
    const earlier = this.ledger.executed(digest)
    if (earlier) return earlier
    const executed = this.#run(bytes, digest, transaction, signatures)
    this.#apply(executed, transaction)
    this.ledger.record(executed)
    this.onChange()
    return executed
  }

  /** Says what {@link execute} would do, and does nothing. */
  simulate(bytes: Uint8Array): Executed {
    return this.#run(bytes, TransactionDataBuilder.getDigestFromBytes(bytes), parseTransaction(bytes), [])
  }

  #run(bytes: Uint8Array, digest: string, transaction: TransactionData, signatures: Uint8Array[]): Executed {
    const base = {
      digest,
      bytes,
      signatures,
      epoch: this.ledger.epoch,
      checkpoint: this.ledger.checkpoint,
      time: Date.now(),
    }
    const { programmable, coins } = this.#admission.admit(transaction, this.lateFunds)
    const sender = normalizeSuiAddress(transaction.sender)
    try {
      const outcome = runCommands(programmable, coins)
      this.#checkFunds(outcome, sender)
      const changes = changesOf(outcome, sender)
      this.#checkTransfers(changes)
      return { ...base, changes }
    } catch (error) {
      if (!(error instanceof ExecutionFailure)) throw error
      const { kind, message: description, command } = error
      return {
        ...base,
        changes: [],
        failure: { kind, description, ...(command !== undefined && { command }) },
      }
    }
  }

  #checkFunds({ redeemed }: Outcome, sender: string): void {
    for (const [type, amount] of redeemed) {
      const available = this.ledger.addressBalance(sender, type)
      if (amount > available)
        throw new ExecutionFailure(
          GrpcTypes.ExecutionError_ExecutionErrorKind.INSUFFICIENT_FUNDS_FOR_WITHDRAW,
          `the address balance has ${available} of ${type}, not ${amount}`,
        )
    }
  }

  #checkTransfers(changes: BalanceChange[]): void {
    const tooSmall = changes.find(({ amount }) => amount > 0n && amount < this.#minTransfer)
    if (tooSmall)
      throw invalid(
        `a gasless transaction gives ${this.#minTransfer} or more to an address, not ${tooSmall.amount}`,
      )
  }

  #apply({ failure, changes }: Executed, transaction: TransactionData): void {
    if (failure) return
    const sender = normalizeSuiAddress(transaction.sender)
    const { coins } = this.#admission.admit(transaction, this.lateFunds)
    for (const { id, type, amount } of coins.values()) {
      // What was in coins is in the address balance for a moment, from which all payments are made.
      this.ledger.removeCoin(id)
      this.ledger.change(sender, type, amount)
    }
    for (const { address, type, amount } of changes) this.ledger.change(address, type, amount)
  }
}

/** @throws {Refusal} for bytes that are not exactly one transaction */
export function parseTransaction(bytes: Uint8Array): TransactionData {
  if (bytes.length > MAX_TRANSACTION_BYTES)
    throw invalid(`a transaction has ${MAX_TRANSACTION_BYTES} bytes at most`)
  let transaction: typeof bcs.TransactionData.$inferType
  try {
    transaction = bcs.TransactionData.parse(bytes)
    if (bcs.TransactionData.serialize(transaction).toBase64() !== toBase64(bytes))
      throw new Error('not canonical')
  } catch (error) {
    throw invalid(`the bytes are not a transaction: ${(error as Error).message}`)
  }
  return transaction.V1
}

async function verifySender(
  bytes: Uint8Array,
  { sender }: TransactionData,
  signatures: Uint8Array[],
): Promise<void> {
  if (signatures.length !== 1)
    throw invalid(`the sender alone signs, and ${signatures.length} signatures came`)
  try {
    await verifyTransactionSignature(bytes, toBase64(signatures[0]!), {
      address: normalizeSuiAddress(sender),
    })
  } catch (error) {
    throw invalid(`Invalid user signature: ${(error as Error).message}`)
  }
}

/** The sum for each address and type: what an address gets back from its own coins is no change. */
function changesOf({ sent }: Outcome, sender: string): BalanceChange[] {
  const sums = new Map<string, BalanceChange>()
  const add = (address: string, type: string, amount: bigint): void => {
    const key = `${address} ${type}`
    sums.set(key, { address, type, amount: (sums.get(key)?.amount ?? 0n) + amount })
  }
  for (const { address, type, amount } of sent) {
    add(address, type, amount)
    add(sender, type, -amount)
  }
  return [...sums.values()].filter(({ amount }) => amount !== 0n)
}

function randomBytes(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32))
}
