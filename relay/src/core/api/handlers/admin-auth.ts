// Checks admin tokens in constant time, and limits wrong ones per network.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { AdminAuthLoginResponse, AdminAuthStatusResponse } from '@svc/protocol'
import { networkOf } from '../../client-address/ip-address.ts'
import { RelayError } from '../../errors.ts'
import type { Logger } from '../../log/log.ts'
import { LoginAttempts } from './login-attempts.ts'

const UNAUTHORIZED = 401

/**
 * The relay compares the token before it looks at the limit, so that the right token always works. A wrong one counts on
 * every endpoint.
 */
export class AdminAuth {
  readonly #digest: Buffer | undefined
  readonly #token: string | undefined
  readonly #log: Logger
  readonly #attempts = new LoginAttempts()

  /** @param token the configured admin token; undefined turns administration off */
  constructor(token: string | undefined, log: Logger) {
    this.#token = token
    this.#digest = token === undefined ? undefined : sha256(token)
    this.#log = log
  }

  /**
   * @param address normalized client address
   * @throws RelayError `unauthorized` (401), `rate_limited` for a wrong token after 5 in a minute from its network
   */
  login(token: string, address: string): AdminAuthLoginResponse {
    if (this.#token === undefined)
      throw new RelayError('feature_unavailable', 'this relay has no ADMIN_TOKEN')
    if (!this.#isToken(token)) this.#refuse(address, 'the token is not the admin token')
    return { access_token: this.#token }
  }

  /** @throws RelayError `rate_limited`, as {@link login} does */
  status(authorization: string | undefined, address: string): AdminAuthStatusResponse {
    const token = bearer(authorization)
    const authenticated = this.#isToken(token)
    if (token !== undefined && !authenticated) this.#count(address)
    return { authenticated }
  }

  /** @throws RelayError `unauthorized` (401) without a valid bearer, and as {@link login} does */
  require(authorization: string | undefined, address: string): void {
    const token = bearer(authorization)
    if (this.#isToken(token)) return
    const message = 'this endpoint needs the admin token as a bearer'
    if (token === undefined) throw unauthorized(message)
    this.#refuse(address, message)
  }

  #refuse(address: string, message: string): never {
    this.#count(address)
    throw unauthorized(message)
  }

  /** A guess over the limit ends its connection, so that each further one costs the client a handshake. */
  #count(address: string): void {
    if (this.#token === undefined) return
    const { isFirst, waitS } = this.#attempts.failed(networkOf(address))
    if (waitS === undefined) this.#log.warn({ address }, 'a client sent a wrong admin token')
    else if (isFirst) this.#log.warn({ address, waitS }, 'a client sent too many wrong admin tokens')
    if (waitS !== undefined)
      throw new RelayError('rate_limited', 'your network sent too many wrong admin tokens', {
        'Retry-After': `${waitS}`,
        Connection: 'close',
      })
  }

  #isToken(token: string | undefined): boolean {
    if (this.#digest === undefined || token === undefined) return false
    // Digests have one length, so that the time does not depend on the token's length.
    return timingSafeEqual(sha256(token), this.#digest)
  }
}

function unauthorized(message: string): RelayError {
  return new RelayError('unauthorized', message, { 'WWW-Authenticate': 'Bearer' }, UNAUTHORIZED)
}

function bearer(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
