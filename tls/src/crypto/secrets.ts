// The secrets of one connection. All remaining ones are erased when it ends, even during the handshake.

import { TlsError } from '../errors.ts'

/** A KeyLog is called with each traffic secret under its NSS key log label, when `onSecret` is configured. */
export type KeyLog = (label: string, secret: Uint8Array) => void

interface Erasable {
  erase(): void
}

export class Secrets {
  readonly #alive = new Set<Erasable>()
  #over = false
  /** The key log. It is set after the ClientHello, whose random names the connection in a key log. */
  log: KeyLog = () => {}

  /**
   * Adds a secret.
   * @throws TlsError `closed` after `erase`, so that a handshake that has not noticed the end creates no new secrets
   */
  add(secret: Erasable): void {
    if (this.#over) {
      secret.erase()
      throw new TlsError('closed', 'the connection is closed')
    }
    this.#alive.add(secret)
  }

  /** Forgets a secret that was erased before the connection's end. */
  delete(secret: Erasable): void {
    this.#alive.delete(secret)
  }

  erase(): void {
    this.#over = true
    for (const secret of this.#alive) secret.erase()
  }
}

/** A Secret holds bytes that only the key schedule reads. They are erased at the end of their phase. */
export class Secret {
  protected readonly bytes: Uint8Array
  protected readonly secrets: Secrets

  /** @param bytes the secret, which the object owns from now on */
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
