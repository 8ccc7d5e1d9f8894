// The one importer of the libraries of the chain and of x402. Only a dynamic import leads here.

export { bcs } from '@mysten/sui/bcs'
export { TransactionError } from '@mysten/sui/client'
export { SuiGrpcClient } from '@mysten/sui/grpc'
export { TransactionDataBuilder } from '@mysten/sui/transactions'
export { fromBase64, normalizeStructTag, toBase64 } from '@mysten/sui/utils'
export { isValidTransactionSignature } from '@mysten/sui/verify'
export { PaymentPayloadV2Schema, PaymentRequirementsV2Schema } from '@x402/core/schemas'
