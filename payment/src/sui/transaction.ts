// Parses a transaction and checks that it is exactly one payment from the sender's address balance.

import { bcs, fromBase64, normalizeStructTag, TransactionDataBuilder, toBase64 } from './libraries.ts'
import { Refusal } from './refusal.ts'

/** Payment is the payment in a transaction. */
export interface Payment {
  digest: string
  sender: string
  recipient: string
  /** Normalized type of the coin. */
  asset: string
  amount: bigint
  validity: Validity
}

/** Validity is the validity period of a transaction. Epochs last about a day. */
interface Validity {
  minEpoch: bigint
  maxEpoch: bigint
  /** Milliseconds since 1970; undefined when the transaction has none. */
  minTimestamp: number | undefined
  maxTimestamp: number | undefined
  /** Digest of the chain's first checkpoint. */
  chain: string
}

type TransactionData = NonNullable<ReturnType<typeof bcs.TransactionData.parse>['V1']>
type Programmable = NonNullable<TransactionData['kind']['ProgrammableTransaction']>
type MoveCall = NonNullable<Programmable['commands'][number]['MoveCall']>

const FRAMEWORK = `0x${'2'.padStart(64, '0')}`

/** The size of an address, in bytes. */
const ADDRESS_LENGTH = 32

/**
 * Reads the two commands that a payment has: `redeem_funds` of the sender's withdrawal, and `send_funds` of what it
 * gave, both of `balance` or both of `coin`. Each byte of the transaction is accounted for, so that one with another
 * input, command, gas payment or trailing byte is refused.
 * @throws Refusal
 */
export function readPayment(bytes: Uint8Array<ArrayBuffer>): Payment {
  const { kind, sender, gasData, expiration } = parse(bytes)
  const { inputs, commands } = kind.ProgrammableTransaction ?? refuse('is not a list of commands')
  if (
    gasData.price !== '0' ||
    gasData.budget !== '0' ||
    gasData.payment.length > 0 ||
    gasData.owner !== sender
  )
    refuse('pays for gas: a payment has the gas price 0, the budget 0, and no gas coins')
  const redeem = commands[0]?.MoveCall
  const send = commands[1]?.MoveCall
  if (commands.length !== 2 || inputs.length !== 2 || redeem === undefined || send === undefined)
    return refuse('has other commands than redeem_funds and send_funds')
  const module = redeem.module
  if (!isCall(redeem, module, 'redeem_funds') || !isCall(send, module, 'send_funds'))
    refuse('has other commands than redeem_funds and send_funds')
  const withdrawal = inputOf(redeem.arguments[0], inputs)?.FundsWithdrawal
  const to = inputOf(send.arguments[1], inputs)?.Pure
  if (withdrawal?.withdrawFrom.Sender !== true || to === undefined || !isFirstResult(send.arguments[0]))
    refuse('does not send what it redeems from the balance of its sender')
  const recipient = fromBase64(to!.bytes)
  const asset = normalizeStructTag(withdrawal!.typeArg.Balance)
  if (recipient.length !== ADDRESS_LENGTH || asset !== typeOf(redeem) || asset !== typeOf(send))
    refuse('sends another coin than it redeems')
  return {
    digest: TransactionDataBuilder.getDigestFromBytes(bytes),
    sender,
    recipient: bcs.Address.parse(recipient),
    asset,
    amount: BigInt(withdrawal!.reservation.MaxAmountU64),
    validity: validityOf(expiration),
  }
}

function parse(bytes: Uint8Array<ArrayBuffer>): TransactionData {
  try {
    const data = bcs.TransactionData.parse(bytes)
    // The codec ignores trailing bytes and accepts non-minimal numbers.
    if (data.V1 !== undefined && toBase64(bcs.TransactionData.serialize(data).toBytes()) === toBase64(bytes))
      return data.V1
  } catch {}
  throw new Refusal('invalid_payload', 'payload.transaction is not a transaction of the chain')
}

function isCall(call: MoveCall, module: string, name: string): boolean {
  const isFunds = module === 'balance' || module === 'coin'
  const argumentCount = name === 'redeem_funds' ? 1 : 2
  return (
    isFunds &&
    call.package === FRAMEWORK &&
    call.module === module &&
    call.function === name &&
    call.typeArguments.length === 1 &&
    call.arguments.length === argumentCount
  )
}

function inputOf(
  argument: MoveCall['arguments'][number] | undefined,
  inputs: Programmable['inputs'],
): Programmable['inputs'][number] | undefined {
  return argument?.Input === undefined ? undefined : inputs[argument.Input]
}

/** Returns whether an argument is the result of the first command, which has one. */
function isFirstResult(argument: MoveCall['arguments'][number] | undefined): boolean {
  return argument?.Result === 0 || (argument?.NestedResult?.[0] === 0 && argument.NestedResult[1] === 0)
}

function typeOf({ typeArguments }: MoveCall): string {
  return normalizeStructTag(typeArguments[0]!)
}

function validityOf(expiration: TransactionData['expiration']): Validity {
  const during = expiration.ValidDuring
  if (during == null || during.minEpoch === null || during.maxEpoch === null)
    throw new Refusal(
      'invalid_exact_sui_payload_expired',
      'the transaction does not end: it needs ValidDuring with its first and its last epoch',
    )
  return {
    minEpoch: BigInt(during.minEpoch),
    maxEpoch: BigInt(during.maxEpoch),
    minTimestamp: timestampOf(during.minTimestamp),
    maxTimestamp: timestampOf(during.maxTimestamp),
    chain: during.chain,
  }
}

function timestampOf(text: string | null): number | undefined {
  return text === null ? undefined : Number(text)
}

function refuse(what: string): never {
  throw new Refusal('invalid_exact_sui_payload_transaction', `the transaction ${what}`)
}
