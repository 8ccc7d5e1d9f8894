// The only importer of the blockchain and x402 libraries, itself imported only dynamically.

export { bcs } from '@mysten/sui/bcs'
export { TransactionError } from '@mysten/sui/client'
export { SuiGrpcClient } from '@mysten/sui/grpc'
export { TransactionDataBuilder } from '@mysten/sui/transactions'
export { fromBase64, normalizeStructTag, toBase64 } from '@mysten/sui/utils'
export { isValidTransactionSignature } from '@mysten/sui/verify'
export { PaymentPayloadV2Schema, PaymentRequirementsV2Schema } from '@x402/core/schemas'
