// Challenges for wallets: Sign-In with Ethereum messages that are valid once and for two minutes. An open challenge
// takes no memory, so nobody can exhaust it: its id is a MAC of its message.

import { createHmac, randomBytes } from 'node:crypto'
import { normalizeAddress } from '@svc/protocol'
import { checksumAddress, parseSiwe, siweMessage, verifySiwe } from '@svc/sdk-core/siwe'
import type { WalletChallenge, WalletLoginRequest } from './api-messages.ts'
import { AgentError } from './errors.ts'
import { isSameSecret } from './secrets.ts'

/** The life of a wallet's challenge, in milliseconds: two minutes, as at a relay. */
export const CHALLENGE_TTL_MS: number = 2 * 60_000
/** The most remembered used challenges. */
const USED_CHALLENGES_MAX = 1024
const STATEMENT = 'Read the status of the svc agent on this computer. This changes nothing and costs nothing.'
/** The chain that the message names. The agent does not access it. */
const CHAIN_ID = 1
const NONCE_BYTES = 16
const KEY_BYTES = 32

export class WalletChallenges {
  readonly #url: string
  readonly #now: () => number
  readonly #key = randomBytes(KEY_BYTES)
  /** The ids of used challenges, with their expiry, earliest first. */
  readonly #used = new Map<string, number>()

  /**
   * @param url the agent's address, which the message names
   * @param now milliseconds since the epoch
   */
  constructor(url: string, now: () => number = Date.now) {
    this.#url = url
    this.#now = now
  }

  /** @throws AgentError `invalid_request` */
  issue(address: unknown): WalletChallenge {
    const wallet = typeof address === 'string' ? normalizeAddress(address) : undefined
    if (wallet === undefined)
      throw new AgentError('invalid_request', 'address is not 0x and 40 hexadecimal digits')
    const now = this.#now()
    const expires_at = new Date(now + CHALLENGE_TTL_MS).toISOString()
    const siwe_message = siweMessage({
      domain: new URL(this.#url).host,
      address: checksumAddress(wallet),
      statement: STATEMENT,
      uri: this.#url,
      chainId: CHAIN_ID,
      nonce: randomBytes(NONCE_BYTES).toString('hex'),
      issuedAt: new Date(now).toISOString(),
      expirationTime: expires_at,
    })
    return { challenge_id: this.#idOf(siwe_message), siwe_message, expires_at }
  }

  /**
   * Redeems a challenge, once.
   * @returns the wallet that signed it, in EIP-55 case
   * @throws AgentError `unauthorized`, `rate_limited`
   */
  async redeem({ challenge_id, siwe_message, siwe_signature }: WalletLoginRequest): Promise<string> {
    const id = this.#idOf(siwe_message)
    if (!isSameSecret(id, challenge_id))
      throw new AgentError('unauthorized', 'siwe_message is not one that this agent issued')
    const now = this.#now()
    this.#forgetOver(now)
    if (this.#used.has(id)) throw new AgentError('unauthorized', 'the challenge was already used')
    if (this.#used.size >= USED_CHALLENGES_MAX)
      throw new AgentError('rate_limited', 'too many wallets sign in: try again in two minutes')
    const domain = new URL(this.#url).host
    const nonce = parseSiwe(siwe_message)?.nonce ?? ''
    // Marked before the check, so that a concurrent repetition finds it used.
    this.#used.set(id, now + CHALLENGE_TTL_MS)
    const result = await verifySiwe(siwe_message, siwe_signature, { domain, nonce, uri: this.#url, now })
    if (result.refusal === undefined) return result.message.address
    this.#used.delete(id)
    throw new AgentError(
      'unauthorized',
      result.refusal === 'expired' ? 'the challenge has expired' : 'siwe_signature is not that of the wallet',
    )
  }

  #idOf(message: string): string {
    return createHmac('sha256', this.#key).update(message).digest('base64url')
  }

  #forgetOver(now: number): void {
    for (const [id, end] of this.#used) {
      if (end > now) return
      this.#used.delete(id)
    }
  }
}
