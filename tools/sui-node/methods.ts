// The methods of the full node that payments need, on a chain: ledger, state and execution, with the messages of
// sui.rpc.v2 as the library has them. All other methods are unimplemented.
import { GrpcTypes } from '@mysten/sui/grpc'
import { fromBase64, normalizeStructTag, normalizeSuiAddress, toBase64 } from '@mysten/sui/utils'
import { type Chain, parseTransaction } from './chain.ts'
import { resolveTransaction, timestamp, toGrpcTransaction } from './grpc-transaction.ts'
import type { CoinObject, Executed } from './ledger.ts'
import { invalid, Refusal } from './status.ts'

/** Entries of a page of a list, where the client asks for no other number. */
const PAGE_SIZE = 50

/** Price of gas in the smallest units of SUI, which transactions with gas would pay. */
const REFERENCE_GAS_PRICE = 1_000n

/** Version of the protocol in which the public networks pay gasless. */
const PROTOCOL_VERSION = 129n

/** Milliseconds of an epoch: a day. It ends when the test says so, and not by itself. */
const EPOCH_MS = 86_400_000n

/** The beginning of the epoch, in milliseconds since 1970. */
const STARTED_AT = Date.now()

/** A method as its name, its messages, and what it answers. */
export interface Method {
  /** The last part of its path. */
  name: string
  /** Decodes, answers and encodes one message. */
  call(request: Uint8Array): Promise<object>
  encode(answer: object): Uint8Array
}

type Handlers = Readonly<Record<string, (request: never) => object | Promise<object>>>

/** @returns the methods by their path */
export function nodeMethods(chain: Chain): Map<string, Method> {
  const services = [
    [GrpcTypes.LedgerService, ledgerHandlers(chain)],
    [GrpcTypes.StateService, stateHandlers(chain)],
    [GrpcTypes.TransactionExecutionService, executionHandlers(chain)],
  ] as const
  const methods = new Map<string, Method>()
  for (const [service, handlers] of services)
    for (const { name, I, O } of service.methods) {
      const handler = (handlers as Handlers)[name]
      if (!handler) continue
      methods.set(`/${service.typeName}/${name}`, {
        name,
        call: async (bytes) => handler(decode(I, bytes) as never),
        encode: (answer) => O.toBinary(answer as never),
      })
    }
  return methods
}

function decode(type: { fromBinary(bytes: Uint8Array): unknown }, bytes: Uint8Array): unknown {
  try {
    return type.fromBinary(bytes)
  } catch (error) {
    throw invalid(`the message cannot be read: ${(error as Error).message}`)
  }
}

function ledgerHandlers(chain: Chain) {
  const { ledger } = chain
  return {
    GetServiceInfo: (): GrpcTypes.GetServiceInfoResponse => ({
      chainId: chain.chainId,
      chain: chain.network.slice('sui:'.length),
      epoch: ledger.epoch,
      checkpointHeight: ledger.checkpoint,
      timestamp: timestamp(Date.now()),
      lowestAvailableCheckpoint: 0n,
      server: 'sui-node/local',
    }),
    GetEpoch: (): GrpcTypes.GetEpochResponse => ({
      epoch: {
        epoch: ledger.epoch,
        referenceGasPrice: REFERENCE_GAS_PRICE,
        protocolConfig: GrpcTypes.ProtocolConfig.create({ protocolVersion: PROTOCOL_VERSION }),
        start: timestamp(STARTED_AT),
        systemState: GrpcTypes.SystemState.create({
          epoch: ledger.epoch,
          protocolVersion: PROTOCOL_VERSION,
          referenceGasPrice: REFERENCE_GAS_PRICE,
          parameters: { epochDurationMs: EPOCH_MS },
        }),
      },
    }),
    GetTransaction: ({
      digest,
      readMask,
    }: GrpcTypes.GetTransactionRequest): GrpcTypes.GetTransactionResponse => {
      const executed = ledger.executed(digest ?? '')
      if (!executed) throw new Refusal('NOT_FOUND', `Transaction ${digest} not found`)
      return { transaction: executedMessage(executed, readMask?.paths) }
    },
    GetObject: ({ objectId }: GrpcTypes.GetObjectRequest): GrpcTypes.GetObjectResponse => {
      const coin = ledger.coin(normalizeSuiAddress(objectId ?? ''))
      if (!coin) throw new Refusal('NOT_FOUND', `Object ${objectId} not found`)
      return { object: coinMessage(coin) }
    },
    BatchGetObjects: ({ requests }: GrpcTypes.BatchGetObjectsRequest): GrpcTypes.BatchGetObjectsResponse => ({
      objects: requests.slice(0, PAGE_SIZE).map(({ objectId }) => {
        const coin = ledger.coin(normalizeSuiAddress(objectId ?? ''))
        if (coin) return { result: { oneofKind: 'object', object: coinMessage(coin) } }
        const error = { code: 5, message: `Object ${objectId} not found`, details: [] }
        return { result: { oneofKind: 'error', error } }
      }),
    }),
  }
}

function stateHandlers({ ledger }: Chain) {
  const balance = (owner: string, coinType: string): GrpcTypes.Balance => {
    const [addressBalance, coinBalance] = [
      ledger.addressBalance(owner, coinType),
      ledger.coinBalance(owner, coinType),
    ]
    return { coinType, balance: addressBalance + coinBalance, addressBalance, coinBalance }
  }
  return {
    GetBalance: ({ owner, coinType }: GrpcTypes.GetBalanceRequest): GrpcTypes.GetBalanceResponse => ({
      balance: balance(normalizeSuiAddress(owner ?? ''), normalizeStructTag(coinType || '0x2::sui::SUI')),
    }),
    ListBalances: (request: GrpcTypes.ListBalancesRequest): GrpcTypes.ListBalancesResponse => {
      const owner = normalizeSuiAddress(request.owner ?? '')
      const { entries, nextPageToken } = page(ledger.types(owner), request)
      return { balances: entries.map((type) => balance(owner, type)), ...nextPageToken }
    },
    /** Coins are the only objects. */
    ListOwnedObjects: (request: GrpcTypes.ListOwnedObjectsRequest): GrpcTypes.ListOwnedObjectsResponse => {
      const wanted = request.objectType ? normalizeStructTag(request.objectType) : undefined
      const coins = ledger
        .coins(normalizeSuiAddress(request.owner ?? ''))
        .filter((coin) => wanted === undefined || coinObjectType(coin) === wanted)
      const { entries, nextPageToken } = page(coins, request)
      return { objects: entries.map(coinMessage), ...nextPageToken }
    },
    GetCoinInfo: ({ coinType }: GrpcTypes.GetCoinInfoRequest): GrpcTypes.GetCoinInfoResponse => {
      const type = normalizeStructTag(coinType ?? '')
      const symbol = type.slice(type.lastIndexOf(':') + 1)
      return { coinType: type, metadata: { decimals: symbol === 'SUI' ? 9 : 6, name: symbol, symbol } }
    },
  }
}

function executionHandlers(chain: Chain) {
  return {
    ExecuteTransaction: async ({
      transaction,
      signatures,
      readMask,
    }: GrpcTypes.ExecuteTransactionRequest): Promise<GrpcTypes.ExecuteTransactionResponse> => {
      if (!transaction?.bcs?.value) throw invalid('the transaction has no BCS form')
      const executed = await chain.execute(
        transaction.bcs.value,
        signatures.map(({ bcs }) => bcs?.value ?? new Uint8Array()),
      )
      return { transaction: executedMessage(executed, readMask?.paths) }
    },
    SimulateTransaction: ({
      transaction,
      readMask,
    }: GrpcTypes.SimulateTransactionRequest): GrpcTypes.SimulateTransactionResponse => {
      const executed = chain.simulate(resolveTransaction(transaction ?? {}, chain))
      const paths = readMask?.paths.filter((path) => path.startsWith('transaction.'))
      const inner = paths?.map((path) => path.slice('transaction.'.length))
      return { transaction: executedMessage(executed, inner), commandOutputs: [] }
    },
  }
}

/** @param paths fields that the client asked for; their first parts are honoured */
function executedMessage(executed: Executed, paths: string[] | undefined): GrpcTypes.ExecutedTransaction {
  const { digest, bytes, signatures, changes, checkpoint, time } = executed
  const whole: GrpcTypes.ExecutedTransaction = {
    digest,
    transaction: {
      ...toGrpcTransaction(parseTransaction(bytes)),
      digest,
      bcs: { name: 'TransactionData', value: bytes },
    },
    signatures: signatures.map((value) => ({
      bcs: { name: 'UserSignature', value },
      signature: { oneofKind: undefined },
    })),
    effects: effectsMessage(executed),
    checkpoint,
    timestamp: timestamp(time),
    balanceChanges: changes.map(({ address, type, amount }) => ({
      address,
      coinType: type,
      amount: String(amount),
    })),
  }
  const wanted = new Set((paths ?? ['digest']).map((path) => path.split('.')[0]!))
  if (wanted.has('*')) return whole
  const empty: GrpcTypes.ExecutedTransaction = { signatures: [], balanceChanges: [] }
  return {
    ...empty,
    ...Object.fromEntries(Object.entries(whole).filter(([name]) => wanted.has(snakeCase(name)))),
  }
}

function effectsMessage({ digest, failure, epoch, checkpoint }: Executed): GrpcTypes.TransactionEffects {
  const error = failure && {
    kind: failure.kind,
    description: failure.description,
    ...(failure.command !== undefined && { command: BigInt(failure.command) }),
    errorDetails: { oneofKind: undefined },
  }
  return {
    version: 2,
    status: { success: failure === undefined, ...(error && { error }) },
    epoch,
    gasUsed: { computationCost: 0n, storageCost: 0n, storageRebate: 0n, nonRefundableStorageFee: 0n },
    transactionDigest: digest,
    dependencies: [],
    lamportVersion: checkpoint,
    changedObjects: [],
    unchangedConsensusObjects: [],
    unchangedLoadedRuntimeObjects: [],
  }
}

function coinMessage(coin: CoinObject): GrpcTypes.Object {
  return {
    objectId: coin.id,
    version: coin.version,
    digest: coin.digest,
    owner: { kind: GrpcTypes.Owner_OwnerKind.ADDRESS, address: coin.owner },
    objectType: coinObjectType(coin),
    balance: coin.amount,
  } as GrpcTypes.Object
}

function coinObjectType({ type }: CoinObject): string {
  return normalizeStructTag(`0x2::coin::Coin<${type}>`)
}

/** The token of a page is the index of its first entry. */
function page<Entry>(
  entries: Entry[],
  { pageSize, pageToken }: { pageSize?: number; pageToken?: Uint8Array },
): { entries: Entry[]; nextPageToken: { nextPageToken?: Uint8Array } } {
  const start = pageToken ? Number(atob(toBase64(pageToken))) : 0
  const end = start + Math.min(pageSize || PAGE_SIZE, PAGE_SIZE)
  const token = end < entries.length ? { nextPageToken: fromBase64(btoa(String(end))) } : {}
  return { entries: entries.slice(start, end), nextPageToken: token }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
