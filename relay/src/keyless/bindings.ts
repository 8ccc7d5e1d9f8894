// What an activated session may have signed: one signature, for the ClientHello that was bridged on it.

import { createHash, randomBytes } from 'node:crypto'
import { BINDING_BYTES, BINDING_TTL_MS } from '@svc/protocol'
import { now } from '../clock.ts'
import type { Lease } from '../lease/lease.ts'
import { BINDINGS_MAX } from '../limits.ts'

interface Pin {
  lease: Lease
  /** SHA-256 of the bridged ClientHello message. */
  helloHash: Buffer
  /** Relay time. */
  expiresAt: number
}

export class BindingStore {
  readonly #processIndex: number | undefined
  /** In order of expiry, since all live equally long. */
  readonly #pins = new Map<string, Pin>()

  /** @param place of this process among those of the relay: the first byte of its bindings tells whose they are */
  constructor(processIndex?: number) {
    this.#processIndex = processIndex
  }

  /** @param clientHello the whole handshake message that the lease's session is about to get */
  issue(lease: Lease, clientHello: Uint8Array): Buffer {
    this.#makeRoom()
    const binding = randomBytes(BINDING_BYTES)
    if (this.#processIndex !== undefined) binding[0] = this.#processIndex
    const pin = { lease, helloHash: sha256(clientHello), expiresAt: now() + BINDING_TTL_MS }
    this.#pins.set(key(binding), pin)
    return binding
  }

  /** Whether `binding` belongs to `lease` and was issued for this very ClientHello; it stays usable. */
  allows(binding: Buffer, lease: Lease, clientHello: Uint8Array): boolean {
    const pin = this.#pins.get(key(binding))
    return (
      pin !== undefined &&
      pin.lease === lease &&
      pin.expiresAt > now() &&
      pin.helloHash.equals(sha256(clientHello))
    )
  }

  /** Uses it up. @returns whether it {@link allows} that; else it is as before */
  spend(binding: Buffer, lease: Lease, clientHello: Uint8Array): boolean {
    const isAllowed = this.allows(binding, lease, clientHello)
    if (isAllowed) this.revoke(binding)
    return isAllowed
  }

  /** Its session is over. */
  revoke(binding: Buffer): void {
    this.#pins.delete(key(binding))
  }

  #makeRoom(): void {
    const time = now()
    for (const [binding, pin] of this.#pins) {
      if (pin.expiresAt > time && this.#pins.size < BINDINGS_MAX) return
      this.#pins.delete(binding)
    }
  }
}

function key(binding: Buffer): string {
  return binding.toString('base64')
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
