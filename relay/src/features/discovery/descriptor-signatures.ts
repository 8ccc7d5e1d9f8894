// Verifies who signed descriptors. The key of an address is recovered from the first one, in a thread; OpenSSL verifies
// later ones against that key, which takes less time and no such thread.

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { isSignedByItsAddress, type RelayDescriptor } from '@svc/protocol'
import type { TextSigner } from '../../core/auth/ethereum-signature.ts'
import { RELAYS_MAX } from './limits.ts'

/** Finds the signer of the SHA-256 of a text. */
export type RecoverSigner = (text: string, signature: Uint8Array) => Promise<TextSigner | undefined>

const COORDINATE_BYTES = 32
/** r and s of a signature, without the recovery bit. */
const PAIR_BYTES = 64

export class DescriptorSignatures {
  readonly #recover: RecoverSigner
  /** Both coordinates of the public key, by lower-case address; the least recently used is first. */
  readonly #keys = new Map<string, Uint8Array>()

  constructor(recover: RecoverSigner) {
    this.#recover = recover
  }

  /** Returns whether the key of a descriptor's address signed it. @throws the errors of the recovery */
  isGenuine(descriptor: RelayDescriptor): Promise<boolean> {
    const address = descriptor.address.toLowerCase()
    return isSignedByItsAddress(descriptor, (text, signature) => this.#signerOf(address, text, signature))
  }

  /** The public key of the descriptor's address; undefined when the descriptor is not genuine. @throws the errors of the recovery */
  async keyOf(descriptor: RelayDescriptor): Promise<KeyObject | undefined> {
    const address = descriptor.address.toLowerCase()
    if (!this.#keys.has(address) && !(await this.isGenuine(descriptor))) return undefined
    const key = this.#keys.get(address)
    return key && keyOf(key)
  }

  async #signerOf(address: string, text: string, signature: Uint8Array): Promise<string | undefined> {
    const known = this.#keys.get(address)
    if (known !== undefined) {
      this.#remember(address, known)
      return (await isSignedBy(known, text, signature)) ? address : undefined
    }
    const signer = await this.#recover(text, signature)
    if (signer?.address === address) this.#remember(address, signer.publicKey.slice(1))
    return signer?.address
  }

  #remember(address: string, key: Uint8Array): void {
    this.#keys.delete(address)
    this.#keys.set(address, key)
    if (this.#keys.size > RELAYS_MAX) this.#keys.delete(this.#keys.keys().next().value!)
  }
}

/** Verifies with OpenSSL, in libuv's threads. @param signature r, s, and the recovery bit */
function isSignedBy(publicKey: Uint8Array, text: string, signature: Uint8Array): Promise<boolean> {
  const key = keyOf(publicKey)
  const pair = signature.subarray(0, PAIR_BYTES)
  return new Promise((resolve) => {
    verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, pair, (error, isValid) =>
      resolve(error === null && isValid),
    )
  })
}

/** @param publicKey both coordinates */
function keyOf(publicKey: Uint8Array): KeyObject {
  const text = (from: number): string =>
    Buffer.from(publicKey.subarray(from, from + COORDINATE_BYTES)).toString('base64url')
  return createPublicKey({
    format: 'jwk',
    key: { kty: 'EC', crv: 'secp256k1', x: text(0), y: text(COORDINATE_BYTES) },
  })
}
