// The secrets of one connection: all that are alive are erased when it ends, whether its handshake was done or not.

import { TlsError } from '../errors.ts'

/** Sees each traffic secret under its NSS key log label, when the user asked for that. */
export type KeyLog = (label: string, secret: Uint8Array) => void

interface Erasable {
  erase(): void
}

export class Secrets {
  readonly #alive = new Set<Erasable>()
  #over = false
  /** Set once the ClientHello, whose random names the connection in a key log, is here. */
  log: KeyLog = () => {}

  /** @throws TlsError `closed` after `erase`: a handshake that does not know yet that it is over makes no new ones */
  add(secret: Erasable): void {
    if (this.#over) {
      secret.erase()
      throw new TlsError('closed', 'the connection is closed')
    }
    this.#alive.add(secret)
  }

  /** It was erased before the connection's end. */
  delete(secret: Erasable): void {
    this.#alive.delete(secret)
  }

  erase(): void {
    this.#over = true
    for (const secret of this.#alive) secret.erase()
  }
}

/** Bytes that only the key schedule reads, and that are erased when their phase is over. */
export class Secret {
  protected readonly bytes: Uint8Array
  protected readonly secrets: Secrets

  /** Takes the bytes over. */
  constructor(bytes: Uint8Array, secrets: Secrets) {
    this.bytes = bytes
    this.secrets = secrets
    secrets.add(this)
  }

  erase(): void {
    this.bytes.fill(0)
    this.secrets.delete(this)
  }
}
