// Runs the signer recovery thread: it answers one request at a time, in order.

import { parentPort } from 'node:worker_threads'
import { recoverSigner, recoverTextSigner } from './ethereum-signature.ts'

export interface RecoveryRequest {
  id: number
  message: string
  /** Text: of `personal_sign`. Bytes: of the message's SHA-256. */
  signature: string | Uint8Array
}

export interface RecoveryResponse {
  id: number
  /** Lower case; undefined when the signature is malformed. */
  address: string | undefined
  /** Uncompressed; undefined for `personal_sign`. */
  publicKey?: Uint8Array | undefined
}

parentPort?.on('message', ({ id, message, signature }: RecoveryRequest) => {
  const { address, publicKey } =
    typeof signature === 'string'
      ? { address: recoverSigner(message, signature), publicKey: undefined }
      : (recoverTextSigner(message, signature) ?? { address: undefined, publicKey: undefined })
  parentPort?.postMessage({ id, address, publicKey } satisfies RecoveryResponse)
})
