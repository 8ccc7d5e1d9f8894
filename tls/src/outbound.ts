// Records to the peer: sealed several at a time, sent in order, coalesced into one buffer.

import type { MaybePromise } from './crypto/provider.ts'
import { Fifo } from './fifo.ts'
import { RECORDS_IN_FLIGHT } from './limits.ts'
import { CONTENT_TYPE, HANDSHAKE_TYPE, RECORD_FRAGMENT_MAX_BYTES } from './messages/constants.ts'
import { handshakeMessage, u8 } from './messages/writer.ts'
import { type LateSealed, type Plaintext, RecordProtection, recordHeader } from './record.ts'

/** What waits: content of any length, or the key of all that follows. */
type Job = Plaintext | RecordProtection

interface SealedRecord {
  header: Uint8Array
  body: MaybePromise<Uint8Array | LateSealed>
}

const UPDATE_NOT_REQUESTED = 0

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

  /** RFC 8449 §4: what the peer's record_size_limit leaves for content; unprotected records are exempt. */
  limitRecords(contentMaxBytes: number): void {
    this.#fragmentMaxBytes = Math.min(RECORD_FRAGMENT_MAX_BYTES, contentMaxBytes)
  }

  /** The content is kept until it is sealed: its owner must not change it. */
  queue(type: number, content: Uint8Array): void {
    if (!this.#finished) this.#jobs.push({ type, content })
  }

  /** All that is queued from here on is under this key. */
  protect(protection: RecordProtection): void {
    this.#jobs.push(protection)
  }

  /** From here on KeyUpdates may be sent; `nextKey` gives the key after one. */
  allowKeyUpdates(nextKey: () => RecordProtection): void {
    this.#nextKey = nextKey
  }

  /** §4.6.3: a KeyUpdate goes out before the next application data; several requests get one answer. */
  updateKey(): void {
    this.#keyUpdateDue = true
  }

  /** What is queued is all that will be sent: a handshake that does not know yet that it is over may go on. */
  finish(): void {
    this.#finished = true
  }

  /** Drops what has not been sealed, and the key changes in it: the peer will not learn of them. */
  clear(): void {
    this.#jobs.clear()
  }

  /** @returns a promise when sealing takes time; it settles when all that is queued has gone to `send` */
  flush(): MaybePromise<void> {
    while (this.#flushing === undefined) {
      const batch = this.#sealBatch()
      if (batch.length === 0) return
      const done = sealedAll(batch)
      if (done instanceof Promise) this.#flushing = this.#flushFrom(done)
      else this.#send(done)
    }
    return this.#flushing
  }

  async #flushFrom(first: Promise<Uint8Array>): Promise<void> {
    try {
      this.#send(await first)
      for (let batch = this.#sealBatch(); batch.length > 0; batch = this.#sealBatch())
        this.#send(await sealedAll(batch))
    } finally {
      this.#flushing = undefined
    }
  }

  #sealBatch(): SealedRecord[] {
    const batch: SealedRecord[] = []
    for (;;) {
      const job = this.#jobs.first
      // Also behind a full batch: what was sealed before a key change and the change belong together.
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

  /** §5.5: also our own, before the key has protected too much. */
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
    // §6.1: nothing follows a closure alert or a fatal one.
    if (job.type === CONTENT_TYPE.alert) this.#nextKey = undefined
    return this.#seal({ type: job.type, content })
  }

  #seal(plaintext: Plaintext): SealedRecord {
    const { type, content } = plaintext
    // §D.4: change_cipher_spec is never protected.
    if (this.#protection === undefined || type === CONTENT_TYPE.change_cipher_spec)
      return { header: recordHeader(type, content.length), body: content }
    const header = this.#protection.header(plaintext)
    return {
      header,
      body: this.#protection.sealLate(header, plaintext) ?? this.#protection.seal(header, plaintext),
    }
  }
}

/** The records of a batch in one buffer. */
function sealedAll(batch: SealedRecord[]): MaybePromise<Uint8Array> {
  const bodies = batch.map(({ body }) => body)
  const there = bodies.filter((body): body is Uint8Array | LateSealed => !(body instanceof Promise))
  return there.length === bodies.length
    ? joined(batch, there)
    : Promise.all(bodies).then((all) => joined(batch, all))
}

function joined(batch: SealedRecord[], bodies: (Uint8Array | LateSealed)[]): Uint8Array {
  const headerBytes = batch.reduce((sum, { header }) => sum + header.length, 0)
  const whole = new Uint8Array(bodies.reduce((sum, body) => sum + body.length, headerBytes))
  let at = 0
  for (const [i, body] of bodies.entries()) {
    const { header } = batch[i]!
    whole.set(header, at)
    at += header.length
    if (body instanceof Uint8Array) whole.set(body, at)
    else body.writeTo(whole.subarray(at, at + body.length))
    at += body.length
  }
  return whole
}
