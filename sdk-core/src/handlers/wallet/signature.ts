// Checks who signed a message: a key (EIP-191), or a contract wallet, by a call (ERC-1271).

import { withTimeout } from '@svc/protocol/timers'
import { readJson } from '../../bytes/bounded-text.ts'
import { hexOf } from '../../bytes/hex.ts'
import { personalMessageHash } from '../../identity/key.ts'
import { isSignedBy } from '../../siwe/index.ts'
import { RPC_ANSWER_MAX_BYTES, RPC_DEADLINE_MS, RPC_QUESTIONS_MAX } from './limits.ts'

/** The selector of `isValidSignature(bytes32,bytes)`, which is also the contract's answer for a valid signature. */
const MAGIC = '1626ba7e'
const WORD_DIGITS = 64
/** The offset of the signature, behind two words: the hash and the offset itself. */
const PLACE_OF_BYTES = '40'.padStart(WORD_DIGITS, '0')
const HEX = /^0x(?:[\da-f]{2})*$/i
/** An answer of the contract: one word, which begins with the selector. */
const ANSWER = /^0x1626ba7e0{56}$/i

/** The endpoint did not answer, or answered with its own error. */
class RpcUnavailable extends Error {
  override readonly name = 'RpcUnavailable'
}

/** Contracts calls contract wallets through one endpoint. */
export class Contracts {
  readonly #rpc: URL
  #questions = 0

  constructor(rpc: URL) {
    this.#rpc = rpc
  }

  /**
   * Resolves with whether the contract at `address` accepts the signature.
   * @throws RpcUnavailable when the endpoint fails, or too many requests are in progress
   */
  async accepts(text: string, signature: string, address: string): Promise<boolean> {
    if (!HEX.test(signature)) return false
    if (this.#questions >= RPC_QUESTIONS_MAX) throw new RpcUnavailable('too many questions are under way')
    this.#questions += 1
    try {
      return ANSWER.test(await this.#call(address, calldata(text, signature)))
    } finally {
      this.#questions -= 1
    }
  }

  /** @returns the contract's answer; empty when there is no contract, and for a call that reverted */
  async #call(to: string, data: string): Promise<string> {
    const controller = new AbortController()
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ to, data }, 'latest'] }
    const ask = async (): Promise<unknown> => {
      const response = await fetch(this.#rpc, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
        redirect: 'error',
        credentials: 'omit',
        cache: 'no-store',
        referrerPolicy: 'no-referrer',
        signal: controller.signal,
      })
      return readJson(response.body, RPC_ANSWER_MAX_BYTES)
    }
    const late = (): Error => {
      controller.abort()
      return new RpcUnavailable('the endpoint is too slow')
    }
    const answer = (await withTimeout(ask(), RPC_DEADLINE_MS, late).catch((cause) => {
      throw new RpcUnavailable('the endpoint does not answer', { cause })
    })) as { result?: unknown; error?: unknown } | undefined
    if (typeof answer?.result === 'string') return answer.result
    // A contract that reverts rejects the signature (code 3 of EIP-1474, or a text).
    const error = answer?.error as { code?: unknown; message?: unknown } | undefined
    if (error?.code === 3 || /revert/i.test(String(error?.message))) return '0x'
    throw new RpcUnavailable('the endpoint answered with an error')
  }
}

/**
 * Resolves with whether the wallet at `address` signed `text`.
 * @param contracts undefined if only keys can sign
 * @throws RpcUnavailable as `Contracts.accepts` does
 */
export async function isWalletsSignature(
  text: string,
  signature: string,
  address: string,
  contracts: Contracts | undefined,
): Promise<boolean> {
  if (isSignedBy(text, signature, address)) return true
  return contracts !== undefined && (await contracts.accepts(text, signature, address))
}

/** Returns the ABI encoding of the call: the selector, the hash, the offset of the signature, its length, and its bytes. */
function calldata(text: string, signature: string): string {
  const digits = signature.slice(2)
  const length = (digits.length / 2).toString(16).padStart(WORD_DIGITS, '0')
  const padded = digits.padEnd(Math.ceil(digits.length / WORD_DIGITS) * WORD_DIGITS, '0')
  return `0x${MAGIC}${hexOf(personalMessageHash(text))}${PLACE_OF_BYTES}${length}${padded}`
}
