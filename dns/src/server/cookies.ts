// DNS cookies (RFC 7873, RFC 9018): a client that presents our cookie has proven its address.

import { randomBytes } from 'node:crypto'
import type { Client } from './client.ts'
import { COOKIE_AHEAD_S, COOKIE_LIFETIME_S, COOKIE_RENEW_S, COOKIE_SECRET_S } from './limits.ts'
import { type SipHashKey, sipHash24, sipHashKey } from './siphash.ts'

/** Bytes of the cookie of a client, and of the longest and the shortest option (RFC 7873 §4). */
export const CLIENT_COOKIE_BYTES = 8
export const COOKIE_MIN_BYTES = 16
export const COOKIE_MAX_BYTES = 40
/** Bytes of a client's cookie and ours. */
const COOKIE_BYTES = 24
const SECRET_BYTES = 16
/** Where the version, the time and the hash of our cookie begin, after the client's (RFC 9018 §4). */
const VERSION_AT = 8
const TIME_AT = 12
const HASH_AT = 16
const VERSION = 1

export interface CookieOptions {
  /** Seconds since 1970. */
  now?: () => number
  /** 16 bytes; random ones by default. */
  secret?: () => Uint8Array
}

export class Cookies {
  readonly #now: () => number
  readonly #newSecret: () => Uint8Array
  #key: SipHashKey
  #previousKey: SipHashKey | undefined
  #keySince: number
  /** The hashed message: the cookies of client and server up to the hash, and the address. */
  readonly #message = Buffer.alloc(HASH_AT + 16)
  readonly #hash = new Uint32Array(2)

  constructor({
    now = () => Math.floor(Date.now() / 1000),
    secret = () => randomBytes(SECRET_BYTES),
  }: CookieOptions = {}) {
    this.#now = now
    this.#newSecret = secret
    this.#key = sipHashKey(secret())
    this.#keySince = now()
  }

  /** @param option the content of a COOKIE option. @returns whether this server recently made it for this client */
  isGood(option: Buffer, client: Client): boolean {
    if (option.length !== COOKIE_BYTES || option[VERSION_AT] !== VERSION) return false
    const age = this.#ageOf(option)
    if (age > COOKIE_LIFETIME_S || age < -COOKIE_AHEAD_S) return false
    const keys = this.#keys()
    option.copy(this.#message, 0, 0, HASH_AT)
    return keys.some((key) => this.#hashIs(key, option, client))
  }

  /**
   * @param option a COOKIE option of this client
   * @param isGood as {@link isGood} said
   * @returns the content of the answer's option: the same cookie while it is fresh, otherwise a new one
   */
  answer(option: Buffer, isGood: boolean, client: Client): Buffer {
    const [key] = this.#keys()
    if (isGood && this.#ageOf(option) < COOKIE_RENEW_S) return option
    const made = Buffer.alloc(COOKIE_BYTES)
    option.copy(made, 0, 0, CLIENT_COOKIE_BYTES)
    made[VERSION_AT] = VERSION
    made.writeUInt32BE(this.#now() >>> 0, TIME_AT)
    made.copy(this.#message, 0, 0, HASH_AT)
    this.#hashFor(key, client)
    made.writeUInt32LE(this.#hash[0]!, HASH_AT)
    made.writeUInt32LE(this.#hash[1]!, HASH_AT + 4)
    return made
  }

  /** Uses serial number arithmetic (RFC 1982), because 32-bit seconds overflow in 2106. */
  #ageOf(option: Buffer): number {
    return (this.#now() - option.readUInt32BE(TIME_AT)) | 0
  }

  /** The current secret, and the previous one while its cookies may be valid. */
  #keys(): [SipHashKey, ...SipHashKey[]] {
    const age = this.#now() - this.#keySince
    if (age >= COOKIE_SECRET_S || age < 0) {
      this.#previousKey = age < COOKIE_SECRET_S + COOKIE_LIFETIME_S ? this.#key : undefined
      this.#key = sipHashKey(this.#newSecret())
      this.#keySince = this.#now()
    } else if (age > COOKIE_LIFETIME_S) this.#previousKey = undefined
    return this.#previousKey ? [this.#key, this.#previousKey] : [this.#key]
  }

  #hashIs(key: SipHashKey, option: Buffer, client: Client): boolean {
    this.#hashFor(key, client)
    const low = this.#hash[0]! ^ option.readUInt32LE(HASH_AT)
    const high = this.#hash[1]! ^ option.readUInt32LE(HASH_AT + 4)
    // Compares in constant time.
    return (low | high) === 0
  }

  #hashFor(key: SipHashKey, { bytes, length }: Client): void {
    bytes.copy(this.#message, HASH_AT, 0, length)
    sipHash24(key, this.#message, HASH_AT + length, this.#hash)
  }
}
