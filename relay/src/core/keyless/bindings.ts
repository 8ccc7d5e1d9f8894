// Stores bindings. Each allows one signature, for the ClientHello that the relay bridged on its session.

import { createHash, randomBytes } from 'node:crypto'
import { BINDING_BYTES, BINDING_TTL_MS } from '@svc/protocol'
import { now } from '../clock.ts'
import type { Lease } from '../lease/lease.ts'

/** Bindings of all leases between activation and signature. The relay drops the oldest first. */
const BINDINGS_MAX = 65_536

interface Entry {
  lease: Lease
  /** SHA-256 of the bridged ClientHello message. */
  helloHash: Buffer
  /** Relay time. */
  expiresAt: number
}

const NO_MARK = new Uint8Array()

export class BindingStore {
  readonly #mark: Uint8Array
  /** Entries in order of expiry, since all live equally long. */
  readonly #entries = new Map<string, Entry>()

  /** @param mark the first bytes of this process's bindings, so that other processes and machines can find it */
  constructor(mark: Uint8Array = NO_MARK) {
    this.#mark = mark
  }

  /** Creates a binding. @param clientHello the whole handshake message that the session is about to receive */
  issue(lease: Lease, clientHello: Uint8Array): Buffer {
    this.#makeRoom()
    const binding = randomBytes(BINDING_BYTES)
    binding.set(this.#mark)
    const entry = { lease, helloHash: sha256(clientHello), expiresAt: now() + BINDING_TTL_MS }
    this.#entries.set(key(binding), entry)
    return binding
  }

  /** Whether the relay issued `binding` for this lease and ClientHello. The binding stays usable. */
  allows(binding: Buffer, lease: Lease, clientHello: Uint8Array): boolean {
    const entry = this.#entries.get(key(binding))
    return (
      entry !== undefined &&
      entry.lease === lease &&
      entry.expiresAt > now() &&
      entry.helloHash.equals(sha256(clientHello))
    )
  }

  /** Uses the binding up if it {@link allows} the signature. @returns whether it does */
  spend(binding: Buffer, lease: Lease, clientHello: Uint8Array): boolean {
    const isAllowed = this.allows(binding, lease, clientHello)
    if (isAllowed) this.revoke(binding)
    return isAllowed
  }

  /** Deletes the binding of a session that ended. */
  revoke(binding: Buffer): void {
    this.#entries.delete(key(binding))
  }

  #makeRoom(): void {
    const time = now()
    for (const [binding, entry] of this.#entries) {
      if (entry.expiresAt > time && this.#entries.size < BINDINGS_MAX) return
      this.#entries.delete(binding)
    }
  }
}

function key(binding: Buffer): string {
  return binding.toString('base64')
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
