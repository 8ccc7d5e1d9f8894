// Runs the signer recovery thread: it answers one request at a time, in order.

import { parentPort } from 'node:worker_threads'
import { recoverSigner } from './ethereum-signature.ts'

export interface RecoveryRequest {
  id: number
  message: string
  signature: string
}

export interface RecoveryResponse {
  id: number
  /** Lower case; undefined when the signature is malformed. */
  address: string | undefined
}

parentPort?.on('message', ({ id, message, signature }: RecoveryRequest) => {
  parentPort?.postMessage({ id, address: recoverSigner(message, signature) } satisfies RecoveryResponse)
})
