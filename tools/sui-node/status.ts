// The ways in which a request or a transaction fails on the chain.
import { GrpcStatusCode, type GrpcTypes } from '@mysten/sui/grpc'

/** The node refuses a request: the caller gets this status, and the ledger stays as it is. */
export class Refusal extends Error {
  readonly code: keyof typeof GrpcStatusCode

  constructor(code: keyof typeof GrpcStatusCode, message: string) {
    super(message)
    this.code = code
  }

  get number(): number {
    return GrpcStatusCode[this.code]
  }
}

/** A transaction that the chain takes up fails: its effects say so, and it moves nothing. */
export class ExecutionFailure extends Error {
  readonly kind: GrpcTypes.ExecutionError_ExecutionErrorKind
  /** Index of the command that failed. */
  readonly command: number | undefined

  constructor(kind: GrpcTypes.ExecutionError_ExecutionErrorKind, message: string, command?: number) {
    super(message)
    this.kind = kind
    this.command = command
  }
}

export function invalid(message: string): Refusal {
  return new Refusal('INVALID_ARGUMENT', message)
}
