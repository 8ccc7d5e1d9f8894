// Seals every entry of Redis to its name there, under a key from the machines' secret, and names entries by keyed
// hashes. A reader of Redis learns neither identities nor addresses; a client that can write to it cannot forge,
// change or move an entry (AES-256-GCM, NIST SP 800-38D).

import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import type { Logger } from '../../../core/log/log.ts'
import { REDIS_WARNING_MS } from '../limits.ts'
import { deriveSubkey } from './cluster-key.ts'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** 128 bits. */
const NAME_CHARS = 22

/** Why an entry is invalid. */
type Fault = 'forged' | 'replayed'

const MEANING: Readonly<Record<Fault, string>> = {
  forged:
    'an entry of Redis was not written by a machine of this relay, or not at its place: it counts for nothing',
  replayed: 'an entry of Redis is older than what this machine knows: it counts for nothing',
}

export class Seal {
  readonly #sealing: Buffer
  readonly #naming: Buffer
  readonly #log: Logger
  /** When each warning was last given, in milliseconds of the monotonic clock. */
  readonly #warnedAt = new Map<string, number>()

  /** @param key the result of {@link deriveClusterKey} */
  constructor(key: Uint8Array, log: Logger) {
    this.#sealing = deriveSubkey(key, 'svc cluster entries v1')
    this.#naming = deriveSubkey(key, 'svc cluster names v1')
    this.#log = log
  }

  /** The keyed hash that stands for a text in Redis, such as an identity or an address. */
  nameOf(kind: string, text: string): string {
    return createHmac('sha256', this.#naming)
      .update(`${kind} ${text}`)
      .digest('base64url')
      .slice(0, NAME_CHARS)
  }

  /**
   * @param kind kind of entry, for warnings
   * @param name which one of its kind: the entry opens only under the same name
   * @param clear text beside it that Redis's scripts read: the entry opens only beside the same text
   * @returns base64url
   */
  close(kind: string, name: string, clear: string, text: string): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#keyOf(kind, name), nonce).setAAD(Buffer.from(clear))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url')
  }

  /** @returns undefined, with a warning, when no machine sealed this for this name and this clear text */
  open(kind: string, name: string, clear: string, sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url')
    try {
      const nonce = bytes.subarray(0, NONCE_BYTES)
      const decipher = createDecipheriv(ALGORITHM, this.#keyOf(kind, name), nonce, {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(Buffer.from(clear)).setAuthTag(bytes.subarray(-TAG_BYTES))
      const text = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
      return Buffer.concat([decipher.update(text), decipher.final()]).toString()
    } catch {
      this.warn(kind, 'forged')
      return undefined
    }
  }

  /** Warns of an invalid entry, at most once per interval for each kind: an attacker may write many. */
  warn(kind: string, fault: Fault): void {
    const [what, time] = [`${kind} ${fault}`, performance.now()]
    if (time - (this.#warnedAt.get(what) ?? Number.NEGATIVE_INFINITY) < REDIS_WARNING_MS) return
    this.#warnedAt.set(what, time)
    this.#log.warn({ entry: kind, fault }, MEANING[fault])
  }

  /** Each name has its own key, so that no key seals more texts than random nonces allow. */
  #keyOf(kind: string, name: string): Buffer {
    return createHmac('sha256', this.#sealing).update(`${kind} ${name}`).digest()
  }
}
