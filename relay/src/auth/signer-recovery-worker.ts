// The thread that recovers signers: one question at a time, answered in the order of asking.

import { parentPort } from 'node:worker_threads'
import { recoverSigner } from './ethereum.ts'

export interface RecoveryRequest {
  id: number
  message: string
  signature: string
}

export interface RecoveryResponse {
  id: number
  /** Lower case; undefined when nobody can have made the signature. */
  address: string | undefined
}

parentPort?.on('message', async ({ id, message, signature }: RecoveryRequest) => {
  parentPort?.postMessage({ id, address: await recoverSigner(message, signature) } satisfies RecoveryResponse)
})
