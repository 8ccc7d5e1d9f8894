// The running hash of the handshake messages (RFC 8446 §4.4.1).

import { messageHash } from '../messages/transcript.ts'
import type { HashFunction, RunningHash } from './provider.ts'

export class TranscriptHash {
  readonly #hash: HashFunction
  #running: RunningHash

  constructor(hash: HashFunction) {
    this.#hash = hash
    this.#running = hash.start()
  }

  add(...messages: Uint8Array[]): void {
    for (const message of messages) this.#running.update(message)
  }

  /** Returns the Transcript-Hash of the added messages, followed by `more`, which is not added. */
  digest(more?: Uint8Array): Uint8Array {
    const copy = this.#running.clone()
    if (more !== undefined) copy.update(more)
    return copy.digest()
  }

  /** Replaces the first ClientHello by the synthetic message_hash, before a HelloRetryRequest. */
  retry(): void {
    const clientHello = this.#running.digest()
    this.#running = this.#hash.start()
    this.add(messageHash(clientHello))
  }
}
