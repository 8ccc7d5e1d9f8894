// Seals records for the peer, several at a time, sends them in order, and coalesces small ones.

import { isPromise, type MaybePromise } from '../crypto/provider.ts'
import { RECORDS_IN_FLIGHT } from '../limits.ts'
import { CONTENT_TYPE, HANDSHAKE_TYPE, RECORD_FRAGMENT_MAX_BYTES } from '../messages/constants.ts'
import { handshakeMessage, u8 } from '../messages/writer.ts'
import { Fifo } from './fifo.ts'
import { type LateSealed, type Plaintext, RecordProtection, recordHeader } from './protection.ts'

/** A queued job: content of any length, or the key of all later jobs. */
type Job = Plaintext | RecordProtection

/** A header, or the sealed bytes behind one. */
type Sealed = Uint8Array | LateSealed

interface SealedRecord {
  header: Uint8Array
  body: MaybePromise<Sealed>
}

const UPDATE_NOT_REQUESTED = 0
/** Below this, coalescing a record with its neighbours costs less than a separate `send`. */
const UNCOPIED_MIN_BYTES: number = 8 * 1024

export class Outbound {
  readonly #send: (bytes: Uint8Array) => void
  readonly #recordsPerKey: number
  readonly #jobs = new Fifo<Job>()
  #protection: RecordProtection | undefined
  #fragmentMaxBytes = RECORD_FRAGMENT_MAX_BYTES
  #flushing: Promise<void> | undefined
  #nextKey: (() => RecordProtection) | undefined
  #keyUpdateDue = false
  #finished = false

  constructor(send: (bytes: Uint8Array) => void, recordsPerKey: number) {
    this.#send = send
    this.#recordsPerKey = recordsPerKey
  }

  /** Limits the content of records to the peer's record_size_limit (RFC 8449 §4). Unprotected records are exempt. */
  limitRecords(contentMaxBytes: number): void {
    this.#fragmentMaxBytes = Math.min(RECORD_FRAGMENT_MAX_BYTES, contentMaxBytes)
  }

  /** Queues content, which is kept until it is sealed: its owner must not change it. */
  queue(type: number, content: Uint8Array): void {
    if (!this.#finished) this.#jobs.push({ type, content })
  }

  /** Changes the key of everything queued later. */
  protect(protection: RecordProtection): void {
    this.#jobs.push(protection)
  }

  /**
   * Allows KeyUpdates from now on.
   * @param nextKey returns the key after a KeyUpdate
   */
  allowKeyUpdates(nextKey: () => RecordProtection): void {
    this.#nextKey = nextKey
  }

  /** Sends a KeyUpdate before the next application data (§4.6.3). Several requests get one answer. */
  updateKey(): void {
    this.#keyUpdateDue = true
  }

  /** Ignores everything queued later, because a handshake may not have noticed the end. */
  finish(): void {
    this.#finished = true
  }

  /** Drops what has not been sealed, with its key changes, which the peer will not see. */
  clear(): void {
    this.#jobs.clear()
  }

  /** @returns a promise when sealing takes time; it settles when everything queued was passed to `send` */
  flush(): MaybePromise<void> {
    while (this.#flushing === undefined) {
      const batch = this.#sealBatch()
      if (batch.length === 0) return
      const done = sealedAll(batch)
      if (isPromise(done)) this.#flushing = this.#flushFrom(done)
      else this.#sendAll(done)
    }
    return this.#flushing
  }

  async #flushFrom(first: Promise<Sealed[]>): Promise<void> {
    try {
      this.#sendAll(await first)
      for (let batch = this.#sealBatch(); batch.length > 0; batch = this.#sealBatch())
        this.#sendAll(await sealedAll(batch))
    } finally {
      this.#flushing = undefined
    }
  }

  /** Sends long bodies without a copy, and joins the parts in between. */
  #sendAll(parts: Sealed[]): void {
    let waiting: Sealed[] = []
    for (const part of parts) {
      if (!('writeTo' in part) && part.length >= UNCOPIED_MIN_BYTES) {
        this.#send(joined(waiting))
        this.#send(part)
        waiting = []
      } else waiting.push(part)
    }
    if (waiting.length > 0) this.#send(joined(waiting))
  }

  #sealBatch(): SealedRecord[] {
    const batch: SealedRecord[] = []
    for (;;) {
      const job = this.#jobs.first
      // Ends the batch even if it is not full: records sealed before a key change belong to one batch with it.
      if (job instanceof RecordProtection) {
        this.#protection = job
        this.#jobs.shift()
      } else if (batch.length === RECORDS_IN_FLIGHT) return batch
      else if (this.#nextKey !== undefined && this.#keyUpdateNeeded(job)) {
        batch.push(this.#sealKeyUpdate(this.#nextKey))
      } else if (job === undefined) return batch
      else batch.push(this.#sealFragment(job))
    }
  }

  /**
   * Returns whether a KeyUpdate is due: a requested one, or the server's own, before the key has protected too much
   * (§5.5).
   */
  #keyUpdateNeeded(job: Plaintext | undefined): boolean {
    return this.#keyUpdateDue || (job !== undefined && this.#protection!.records >= this.#recordsPerKey)
  }

  #sealKeyUpdate(nextKey: () => RecordProtection): SealedRecord {
    const content = handshakeMessage(HANDSHAKE_TYPE.key_update, u8(UPDATE_NOT_REQUESTED))
    const record = this.#seal({ type: CONTENT_TYPE.handshake, content })
    this.#keyUpdateDue = false
    this.#protection = nextKey()
    return record
  }

  #sealFragment(job: Plaintext): SealedRecord {
    const max = this.#protection === undefined ? RECORD_FRAGMENT_MAX_BYTES : this.#fragmentMaxBytes
    const content = job.content.subarray(0, max)
    if (content.length === job.content.length) this.#jobs.shift()
    else job.content = job.content.subarray(max)
    // Nothing follows a closure alert or a fatal one (§6.1).
    if (job.type === CONTENT_TYPE.alert) this.#nextKey = undefined
    return this.#seal({ type: job.type, content })
  }

  #seal(plaintext: Plaintext): SealedRecord {
    const { type, content } = plaintext
    // A change_cipher_spec is never protected (§D.4). The content is copied, because the callee of `send` owns its bytes, while
    // the handshake still hashes them for the transcript.
    if (this.#protection === undefined || type === CONTENT_TYPE.change_cipher_spec)
      return { header: recordHeader(type, content.length), body: content.slice() }
    const header = this.#protection.header(plaintext)
    return {
      header,
      body: this.#protection.sealLate(header, plaintext) ?? this.#protection.seal(header, plaintext),
    }
  }
}

/** Returns the headers and bodies of a batch, in order. */
function sealedAll(batch: SealedRecord[]): MaybePromise<Sealed[]> {
  const parts = batch.flatMap(({ header, body }) => [header, body])
  return parts.some(isPromise) ? Promise.all(parts) : (parts as Sealed[])
}

function joined(parts: Sealed[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    if ('writeTo' in part) part.writeTo(whole.subarray(at, at + part.length))
    else whole.set(part, at)
    at += part.length
  }
  return whole
}
