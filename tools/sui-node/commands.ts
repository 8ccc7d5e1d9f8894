// Runs the commands of a gasless transaction: only those that the chain allows without gas, over balances and coins.
import { bcs } from '@mysten/sui/bcs'
import { GrpcTypes } from '@mysten/sui/grpc'
import { fromBase64, normalizeStructTag, normalizeSuiAddress } from '@mysten/sui/utils'
import type { CoinObject } from './ledger.ts'
import { ExecutionFailure, invalid } from './status.ts'

const Failure = GrpcTypes.ExecutionError_ExecutionErrorKind

export type TransactionData = (typeof bcs.TransactionData.$inferType)['V1']
export type Programmable = typeof bcs.ProgrammableTransaction.$inferType
type Command = Programmable['commands'][number]
type MoveCall = NonNullable<Command['MoveCall']>
type Argument = MoveCall['arguments'][number]

/** A value on the way through a transaction; `amount` is in the smallest units. */
type Value =
  | { kind: 'pure'; bytes: Uint8Array }
  | { kind: 'withdrawal' | 'balance' | 'coin'; type: string; amount: bigint }

type Money = Extract<Value, { amount: bigint }>

/** The effect of a transaction that succeeds. */
export interface Outcome {
  /** Taken from the address balance of the sender, by type. */
  redeemed: Map<string, bigint>
  /** Given to address balances, in their order. */
  sent: { address: string; type: string; amount: bigint }[]
}

/**
 * @param inputCoins coin objects of the sender by input index
 * @throws {ExecutionFailure} with the command that failed
 */
export function runCommands(
  { inputs, commands }: Programmable,
  inputCoins: ReadonlyMap<number, CoinObject>,
): Outcome {
  const outcome: Outcome = { redeemed: new Map(), sent: [] }
  const values = new Values(inputs.map((input, index) => inputValue(input, inputCoins.get(index))))
  for (const [index, command] of commands.entries()) {
    values.command = index
    values.add(runCommand(command, values, outcome))
  }
  values.expectNoneLeft()
  return outcome
}

function inputValue(input: Programmable['inputs'][number], coin: CoinObject | undefined): Value {
  if (input.Pure) return { kind: 'pure', bytes: fromBase64(input.Pure.bytes) }
  if (coin) return { kind: 'coin', type: coin.type, amount: coin.amount }
  if (!input.FundsWithdrawal) throw invalid('an input is neither pure, nor a coin, nor a withdrawal')
  const { reservation, typeArg } = input.FundsWithdrawal
  return {
    kind: 'withdrawal',
    type: normalizeStructTag(typeArg.Balance),
    amount: BigInt(reservation.MaxAmountU64),
  }
}

function runCommand(command: Command, values: Values, outcome: Outcome): Value[] {
  if (command.SplitCoins) {
    const { coin, amounts } = command.SplitCoins
    return amounts.map((amount) => values.split(coin, 'coin', values.number(amount)))
  }
  if (command.MergeCoins) {
    const { destination, sources } = command.MergeCoins
    for (const source of sources) values.merge(destination, values.take(source, 'coin'))
    return []
  }
  if (command.MoveCall) return runCall(command.MoveCall, values, outcome)
  throw invalid('a gasless transaction has calls, splits and merges of coins alone')
}

/** The functions that a transaction without gas may call, all of package 0x2. */
const FUNCTIONS: Readonly<
  Record<string, (args: Argument[], type: string, values: Values, outcome: Outcome) => Value[]>
> = {
  'balance::redeem_funds': ([from], type, values, outcome) => [
    redeem('balance', from, type, values, outcome),
  ],
  'coin::redeem_funds': ([from], type, values, outcome) => [redeem('coin', from, type, values, outcome)],
  'balance::send_funds': ([from, to], type, values, outcome) =>
    send('balance', from, to, type, values, outcome),
  'coin::send_funds': ([from, to], type, values, outcome) => send('coin', from, to, type, values, outcome),
  'coin::into_balance': ([coin], type, values) => [
    { kind: 'balance', type, amount: values.take(coin, 'coin', type).amount },
  ],
  'balance::split': ([from, amount], _type, values) => [values.split(from, 'balance', values.number(amount))],
  'balance::zero': (_args, type) => [{ kind: 'balance', type, amount: 0n }],
}

/** @returns whether a transaction without gas may call this */
export function isGaslessCall({
  package: address,
  module,
  function: name,
  typeArguments,
}: MoveCall): boolean {
  return (
    normalizeSuiAddress(address) === normalizeSuiAddress('0x2') &&
    Object.hasOwn(FUNCTIONS, `${module}::${name}`) &&
    typeArguments.length === 1
  )
}

function runCall(call: MoveCall, values: Values, outcome: Outcome): Value[] {
  const run = isGaslessCall(call) ? FUNCTIONS[`${call.module}::${call.function}`] : undefined
  if (!run) throw invalid(`${call.module}::${call.function} is not allowed in gasless transactions`)
  return run(call.arguments, normalizeStructTag(call.typeArguments[0]!), values, outcome)
}

function redeem(
  kind: 'balance' | 'coin',
  from: Argument | undefined,
  type: string,
  values: Values,
  { redeemed }: Outcome,
): Value {
  const { amount } = values.take(from, 'withdrawal', type)
  redeemed.set(type, (redeemed.get(type) ?? 0n) + amount)
  return { kind, type, amount }
}

function send(
  kind: 'balance' | 'coin',
  from: Argument | undefined,
  to: Argument | undefined,
  type: string,
  values: Values,
  { sent }: Outcome,
): Value[] {
  const { amount } = values.take(from, kind, type)
  sent.push({ address: values.address(to), type, amount })
  return []
}

/** The inputs and results of a transaction. A balance or a coin is in one place: who takes it leaves nothing behind. */
class Values {
  readonly #inputs: (Value | undefined)[]
  readonly #results: (Value | undefined)[][] = []
  /** Index of the command that runs. */
  command = 0

  constructor(inputs: Value[]) {
    this.#inputs = inputs
  }

  add(results: Value[]): void {
    this.#results.push(results)
  }

  take(argument: Argument | undefined, kind: Money['kind'], type?: string): Money {
    const [list, index] = this.#place(argument)
    const value = this.#money(list[index], kind, type)
    list[index] = undefined
    return value
  }

  split(argument: Argument | undefined, kind: 'balance' | 'coin', amount: bigint): Money {
    const [list, index] = this.#place(argument)
    const value = this.#money(list[index], kind)
    if (amount > value.amount)
      throw this.#failure(Failure.INSUFFICIENT_COIN_BALANCE, `${amount} is more than ${value.amount}`)
    list[index] = { ...value, amount: value.amount - amount }
    return { ...value, amount }
  }

  merge(argument: Argument | undefined, source: Money): void {
    const [list, index] = this.#place(argument)
    const value = this.#money(list[index], 'coin', source.type)
    list[index] = { ...value, amount: value.amount + source.amount }
  }

  number(argument: Argument | undefined): bigint {
    const bytes = this.#pure(argument)
    if (bytes.length !== 8) throw this.#argumentFailure('a 64-bit number has 8 bytes')
    return BigInt(bcs.u64().parse(bytes))
  }

  address(argument: Argument | undefined): string {
    const bytes = this.#pure(argument)
    if (bytes.length !== 32) throw this.#argumentFailure('an address has 32 bytes')
    return normalizeSuiAddress(bcs.Address.parse(bytes))
  }

  /** Balances and coins cannot be dropped: a transaction has to give each away. */
  expectNoneLeft(): void {
    const left = [...this.#inputs, ...this.#results.flat()].filter(
      (value) => value?.kind === 'coin' || value?.kind === 'balance',
    )
    if (left.length === 0) return
    throw this.#failure(Failure.UNUSED_VALUE_WITHOUT_DROP, `the transaction leaves a ${left[0]!.kind} behind`)
  }

  #pure(argument: Argument | undefined): Uint8Array {
    const [list, index] = this.#place(argument)
    const value = list[index]
    if (value?.kind !== 'pure') throw this.#argumentFailure('the argument is not a pure value')
    return value.bytes
  }

  #money(value: Value | undefined, kind: Money['kind'], type?: string): Money {
    if (value === undefined) throw this.#argumentFailure('the argument has been used before')
    if (value.kind !== kind) throw this.#argumentFailure(`the argument is a ${value.kind}, not a ${kind}`)
    if (type !== undefined && value.type !== type)
      throw this.#argumentFailure(`the argument is of ${value.type}, not of ${type}`)
    return value as Money
  }

  #place(argument: Argument | undefined): [(Value | undefined)[], number] {
    if (argument?.Input !== undefined && argument.Input < this.#inputs.length)
      return [this.#inputs, argument.Input]
    const [result, index] = argument?.NestedResult ?? [argument?.Result ?? -1, 0]
    const results = this.#results[result]
    const isAmbiguous = argument?.Result !== undefined && results?.length !== 1
    if (results === undefined || isAmbiguous || index >= results.length)
      throw this.#argumentFailure('the argument names nothing')
    return [results, index]
  }

  #argumentFailure(message: string): ExecutionFailure {
    return this.#failure(Failure.COMMAND_ARGUMENT_ERROR, message)
  }

  #failure(kind: GrpcTypes.ExecutionError_ExecutionErrorKind, message: string): ExecutionFailure {
    return new ExecutionFailure(kind, message, this.command)
  }
}
