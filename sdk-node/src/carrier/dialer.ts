// Dials one relay repeatedly: it reuses the TLS context, and each connection resumes the session of the previous one.

import { createSecureContext, type SecureContext } from 'node:tls'
import type { RelayConnectOptions } from '../net/forward-proxy.ts'
import { type Dialed, dial, type Upgrade } from './dial.ts'

export class Dialer {
  readonly #url: URL
  readonly #tls: RelayConnectOptions
  /** Cached, because loading the CA certificates takes longer than a resumed handshake. */
  #context: SecureContext | undefined
  /** The TLS session to resume next, which saves the relay a signature. */
  #session: Buffer | undefined

  /**
   * @param url the relay's endpoint of reverse sessions
   * @param tls a CA or a context that has it, a DNS lookup, and a proxy for each connection
   */
  constructor(url: string, tls: RelayConnectOptions) {
    this.#url = new URL(url)
    this.#tls = tls
  }

  /** The relay's host, with its port unless it is 443. */
  get host(): string {
    return this.#url.host
  }

  /** @throws SvcError as {@link dial} does */
  dial(upgrade: Upgrade, capability: string, signal: AbortSignal): Promise<Dialed> {
    this.#context ??= this.#tls.secureContext ?? createSecureContext(this.#tls)
    const session = this.#session && { session: this.#session }
    const tls = { ...this.#tls, secureContext: this.#context, ...session }
    const keepSession = (next: Buffer): void => {
      this.#session = next
    }
    return dial({ url: this.#url, upgrade, capability, tls, keepSession }, signal)
  }
}
