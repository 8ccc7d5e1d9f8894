// Transactions in the two forms that a node speaks: BCS, which is signed, and messages of gRPC, which a client may leave
// incomplete for the node to resolve. Only what a gasless transaction may hold is translated.
import { bcs } from '@mysten/sui/bcs'
import { GrpcTypes } from '@mysten/sui/grpc'
import { fromBase64, normalizeSuiAddress, toBase64 } from '@mysten/sui/utils'
import type { Chain } from './chain.ts'
import type { Programmable, TransactionData } from './commands.ts'
import { invalid } from './status.ts'

const InputKind = GrpcTypes.Input_InputKind
const ArgumentKind = GrpcTypes.Argument_ArgumentKind
const ExpirationKind = GrpcTypes.TransactionExpiration_TransactionExpirationKind

type GrpcInput = GrpcTypes.Input
type GrpcArgument = GrpcTypes.Argument
type Input = Programmable['inputs'][number]
type Command = Programmable['commands'][number]
type Argument = NonNullable<Command['SplitCoins']>['coin']
type Expiration = TransactionData['expiration']

/**
 * Completes a transaction as a node with gas selection does: a gasless one gets the price 0, no gas coins, and the
 * epochs in which it is valid.
 * @returns its BCS form
 */
export function resolveTransaction(message: GrpcTypes.Transaction, chain: Chain): Uint8Array {
  if (message.bcs?.value) return message.bcs.value
  if (message.kind?.data.oneofKind !== 'programmableTransaction' || !message.sender)
    throw invalid('a transaction needs a sender and a programmable transaction')
  const { inputs, commands } = message.kind.data.programmableTransaction
  const { price, budget, owner, objects } = message.gasPayment ?? { objects: [] }
  const expiration = message.expiration ? fromGrpcExpiration(message.expiration) : undefined
  const transaction = {
    kind: {
      ProgrammableTransaction: {
        inputs: inputs.map((input) => fromGrpcInput(input, chain)),
        commands: commands.map(fromGrpcCommand),
      },
    },
    sender: message.sender,
    gasData: {
      payment: objects.map(({ objectId, version, digest }) => ({
        objectId: objectId!,
        version: String(version),
        digest: digest!,
      })),
      owner: owner ?? message.sender,
      price: String(price ?? 0n),
      budget: String(budget ?? 0n),
    },
    expiration: expiration ?? defaultExpiration(chain),
  }
  return bcs.TransactionData.serialize({ V1: transaction } as never).toBytes()
}

/** The message for a transaction, without its BCS form. */
export function toGrpcTransaction(transaction: TransactionData): GrpcTypes.Transaction {
  const { inputs, commands } = transaction.kind.ProgrammableTransaction!
  const { payment, owner, price, budget } = transaction.gasData
  return {
    version: 1,
    kind: {
      data: {
        oneofKind: 'programmableTransaction',
        programmableTransaction: { inputs: inputs.map(toGrpcInput), commands: commands.map(toGrpcCommand) },
      },
    } as GrpcTypes.TransactionKind,
    sender: transaction.sender,
    gasPayment: {
      objects: payment.map(({ objectId, version, digest }) => ({
        objectId,
        version: BigInt(version),
        digest,
      })),
      owner,
      price: BigInt(price),
      budget: BigInt(budget),
    },
    expiration: toGrpcExpiration(transaction.expiration),
  }
}

/** A nonce makes two payments of the same amount two transactions. */
function defaultExpiration({ ledger, chainId }: Chain) {
  return {
    ValidDuring: {
      minEpoch: String(ledger.epoch),
      maxEpoch: String(ledger.epoch + 1n),
      minTimestamp: null,
      maxTimestamp: null,
      chain: chainId,
      nonce: crypto.getRandomValues(new Uint32Array(1))[0]!,
    },
  }
}

function fromGrpcExpiration(expiration: GrpcTypes.TransactionExpiration) {
  if (expiration.kind === ExpirationKind.EPOCH) return { Epoch: String(expiration.epoch) }
  if (expiration.kind !== ExpirationKind.VALID_DURING) return { None: true }
  const { minEpoch, epoch, minTimestamp, maxTimestamp, chain, nonce } = expiration
  return {
    ValidDuring: {
      minEpoch: minEpoch === undefined ? null : String(minEpoch),
      maxEpoch: epoch === undefined ? null : String(epoch),
      minTimestamp: minTimestamp ? milliseconds(minTimestamp) : null,
      maxTimestamp: maxTimestamp ? milliseconds(maxTimestamp) : null,
      chain: chain ?? '',
      nonce: nonce ?? 0,
    },
  }
}

function toGrpcExpiration(expiration: Expiration): GrpcTypes.TransactionExpiration {
  if (expiration.Epoch !== undefined) return { kind: ExpirationKind.EPOCH, epoch: BigInt(expiration.Epoch) }
  const validity = expiration.ValidDuring
  if (!validity) return { kind: ExpirationKind.NONE }
  const { minEpoch, maxEpoch, minTimestamp, maxTimestamp, chain, nonce } = validity
  return {
    kind: ExpirationKind.VALID_DURING,
    ...(minEpoch !== null && { minEpoch: BigInt(minEpoch) }),
    ...(maxEpoch !== null && { epoch: BigInt(maxEpoch) }),
    ...(minTimestamp !== null && { minTimestamp: timestamp(Number(minTimestamp)) }),
    ...(maxTimestamp !== null && { maxTimestamp: timestamp(Number(maxTimestamp)) }),
    chain,
    nonce,
  }
}

export function timestamp(time: number): GrpcTypes.ExecutedTransaction['timestamp'] & {} {
  return { seconds: BigInt(Math.floor(time / 1000)), nanos: (time % 1000) * 1_000_000 }
}

function milliseconds({ seconds, nanos }: { seconds: bigint; nanos: number }): string {
  return String(seconds * 1000n + BigInt(Math.floor(nanos / 1_000_000)))
}

/** An object that the client names by its id alone gets the version that the ledger has. */
function fromGrpcInput(input: GrpcInput, { ledger }: Chain) {
  if (input.kind === InputKind.PURE) return { Pure: { bytes: toBase64(input.pure ?? new Uint8Array()) } }
  if (input.kind === InputKind.FUNDS_WITHDRAWAL) {
    const { amount, coinType, source } = input.fundsWithdrawal ?? {}
    return {
      FundsWithdrawal: {
        reservation: { MaxAmountU64: String(amount ?? 0n) },
        typeArg: { Balance: coinType ?? '0x2::sui::SUI' },
        withdrawFrom:
          source === GrpcTypes.FundsWithdrawal_Source.SPONSOR ? { Sponsor: true } : { Sender: true },
      },
    }
  }
  if (input.kind !== undefined && input.kind !== InputKind.IMMUTABLE_OR_OWNED)
    throw invalid('a gasless transaction has coins of the sender as its only objects')
  if (!input.objectId) throw invalid('an input has no object')
  const coin = ledger.coin(normalizeSuiAddress(input.objectId))
  if (!coin) throw invalid(`no object ${input.objectId}`)
  const version = String(input.version ?? coin.version)
  return { Object: { ImmOrOwnedObject: { objectId: coin.id, version, digest: input.digest ?? coin.digest } } }
}

function toGrpcInput(input: Input): GrpcInput {
  if (input.Pure) return { kind: InputKind.PURE, pure: fromBase64(input.Pure.bytes) }
  if (input.FundsWithdrawal) {
    const { reservation, typeArg } = input.FundsWithdrawal
    return {
      kind: InputKind.FUNDS_WITHDRAWAL,
      fundsWithdrawal: {
        amount: BigInt(reservation.MaxAmountU64),
        coinType: typeArg.Balance,
        source: GrpcTypes.FundsWithdrawal_Source.SENDER,
      },
    }
  }
  const { objectId, version, digest } = input.Object!.ImmOrOwnedObject!
  return { kind: InputKind.IMMUTABLE_OR_OWNED, objectId, version: BigInt(version), digest }
}

function fromGrpcCommand({ command }: GrpcTypes.Command) {
  if (command.oneofKind === 'moveCall') {
    const { package: address, module, function: name, typeArguments, arguments: args } = command.moveCall
    return {
      MoveCall: {
        package: address!,
        module: module!,
        function: name!,
        typeArguments,
        arguments: args.map(fromGrpcArgument),
      },
    }
  }
  if (command.oneofKind === 'splitCoins') {
    const { coin, amounts } = command.splitCoins
    return { SplitCoins: { coin: fromGrpcArgument(coin!), amounts: amounts.map(fromGrpcArgument) } }
  }
  if (command.oneofKind === 'mergeCoins') {
    const { coin, coinsToMerge } = command.mergeCoins
    return {
      MergeCoins: { destination: fromGrpcArgument(coin!), sources: coinsToMerge.map(fromGrpcArgument) },
    }
  }
  throw invalid('a gasless transaction has calls, splits and merges of coins alone')
}

function toGrpcCommand({ MoveCall, SplitCoins, MergeCoins }: Command): GrpcTypes.Command {
  if (MoveCall)
    return {
      command: {
        oneofKind: 'moveCall',
        moveCall: { ...MoveCall, arguments: MoveCall.arguments.map(toGrpcArgument) },
      },
    }
  if (SplitCoins) {
    const { coin, amounts } = SplitCoins
    const splitCoins = { coin: toGrpcArgument(coin), amounts: amounts.map(toGrpcArgument) }
    return { command: { oneofKind: 'splitCoins', splitCoins } }
  }
  const { destination, sources } = MergeCoins!
  const mergeCoins = { coin: toGrpcArgument(destination), coinsToMerge: sources.map(toGrpcArgument) }
  return { command: { oneofKind: 'mergeCoins', mergeCoins } }
}

function fromGrpcArgument({ kind, input, result, subresult }: GrpcArgument) {
  if (kind === ArgumentKind.INPUT) return { Input: input! }
  if (kind !== ArgumentKind.RESULT) throw invalid('a gasless transaction has no gas coin')
  return subresult === undefined ? { Result: result! } : { NestedResult: [result!, subresult] }
}

function toGrpcArgument({ Input: input, Result: result, NestedResult: nested }: Argument): GrpcArgument {
  if (input !== undefined) return { kind: ArgumentKind.INPUT, input }
  if (nested) return { kind: ArgumentKind.RESULT, result: nested[0], subresult: nested[1] }
  return { kind: ArgumentKind.RESULT, result: result! }
}
