// Challenges: Sign-In with Ethereum messages for a wallet to sign, each valid for one host, one attempt and two minutes.

import { hexOf } from '../../bytes/hex.ts'
import { checksumAddress } from '../../identity/key.ts'
import { parseSiwe, siweMessage } from '../../siwe/index.ts'
import { TokenBucket } from '../../timers/token-bucket.ts'
import { constantTimeEqual } from '../constant-time-equal.ts'
import type { Mac } from '../sessions/mac.ts'
import { CHALLENGE_MS, CHALLENGES_BURST, CHALLENGES_PER_S, USED_CHALLENGES_MAX } from './limits.ts'

/** The statement in the message. */
export const STATEMENT = 'Sign in to this site. This costs nothing, and sends no transaction.'

/** The numbers of random bytes and of MAC bytes in a nonce. */
const RANDOM_BYTES = 8
const CODE_BYTES = 16
const TIME_DIGITS = 12
/** The random bytes, the time of issue in milliseconds, and the MAC of both, the host and the address. */
const NONCE = /^([\da-f]{16})([\da-f]{12})([\da-f]{32})$/

/** A ChallengeRefusal says why a message does not answer an open challenge. */
export type ChallengeRefusal = 'not_issued' | 'expired' | 'used'

/** An OpenChallenge was issued by this handler for this host, and is unused. */
export interface OpenChallenge {
  /** The address that must have signed, with its checksum. */
  readonly address: string
  readonly nonce: string
  readonly expiresAt: number
}

/** Challenges issues and recognizes the challenges of one handler. It stores only used ones. */
export class Challenges {
  readonly #mac: Mac
  readonly #chainId: number
  readonly #bucket = new TokenBucket(CHALLENGES_BURST, CHALLENGES_PER_S)
  /** The time at which each used nonce expires, in the order of use. */
  readonly #used = new Map<string, number>()

  constructor(mac: Mac, chainId: number) {
    this.#mac = mac
    this.#chainId = chainId
  }

  /**
   * Resolves with the text to sign, or with undefined when too many were requested.
   * @param origin the site's origin, as this visitor sees it
   * @param address `0x` and 40 hexadecimal digits
   */
  async issue(origin: string, address: string): Promise<string | undefined> {
    if (!this.#bucket.take()) return undefined
    const seed = hexOf(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)))
    return this.#text(origin, address, seed, Date.now())
  }

  /** Resolves with the open challenge of `text`, or with the reason why there is none. It stays open until `use`. */
  async find(origin: string, text: string): Promise<OpenChallenge | { refusal: ChallengeRefusal }> {
    const message = parseSiwe(text)
    const [, seed, time = ''] = NONCE.exec(message?.nonce ?? '') ?? []
    if (message === undefined || seed === undefined) return { refusal: 'not_issued' }
    const issuedAt = Number.parseInt(time, 16)
    const { address, nonce } = message
    // Comparing with the handler's own text for this nonce proves the MAC and that nothing in the message was changed.
    const issued = await this.#text(origin, address, seed, issuedAt)
    if (!(await constantTimeEqual(issued, text))) return { refusal: 'not_issued' }
    const now = Date.now()
    const expiresAt = issuedAt + CHALLENGE_MS
    if (now >= expiresAt || now < issuedAt - CHALLENGE_MS) return { refusal: 'expired' }
    return this.#used.has(nonce) ? { refusal: 'used' } : { address, nonce, expiresAt }
  }

  /** Marks a challenge as used, in the same turn in which it was found. @returns false when no more can be remembered */
  use({ nonce, expiresAt }: OpenChallenge): boolean {
    const now = Date.now()
    for (const [used, until] of this.#used) {
      if (until > now) break
      this.#used.delete(used)
    }
    if (this.#used.size >= USED_CHALLENGES_MAX) return false
    this.#used.set(nonce, expiresAt)
    return true
  }

  async #text(origin: string, address: string, seed: string, issuedAt: number): Promise<string> {
    const time = issuedAt.toString(16).padStart(TIME_DIGITS, '0')
    const code = await this.#mac('challenge', origin, address.toLowerCase(), seed, time)
    return siweMessage({
      domain: new URL(origin).host,
      address: checksumAddress(address),
      statement: STATEMENT,
      uri: origin,
      chainId: this.#chainId,
      nonce: `${seed}${time}${hexOf(code.subarray(0, CODE_BYTES))}`,
      issuedAt: new Date(issuedAt).toISOString(),
      expirationTime: new Date(issuedAt + CHALLENGE_MS).toISOString(),
    })
  }
}
