// Who is an administrator: the admin token, compared in constant time, and what becomes of those who guess.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { AdminAuthLoginResponse, AdminAuthStatusResponse } from '@svc/protocol'
import { networkOf } from '../../client-address/ip-address.ts'
import { RelayError } from '../../errors.ts'
import type { Logger } from '../../log/log.ts'
import { LoginAttempts } from './login-attempts.ts'

const UNAUTHORIZED = 401

/**
 * The right token always works, whoever else guesses from the same address: it is compared first. A wrong one counts
 * against the address wherever it is shown.
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
   * @param address normalized, of the client
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
    const message = 'a valid bearer token is needed'
    if (token === undefined) throw unauthorized(message)
    this.#refuse(address, message)
  }

  #refuse(address: string, message: string): never {
    this.#count(address)
    throw unauthorized(message)
  }

  /** A guess that is one too many ends its connection: each further one costs a handshake. */
  #count(address: string): void {
    if (this.#token === undefined) return
    const { isFirst, waitS } = this.#attempts.failed(networkOf(address))
    if (waitS === undefined) this.#log.warn({ address }, 'a wrong admin token')
    else if (isFirst) this.#log.warn({ address, waitS }, 'too many wrong admin tokens')
    if (waitS !== undefined)
      throw new RelayError('rate_limited', 'too many wrong admin tokens', {
        'Retry-After': `${waitS}`,
        Connection: 'close',
      })
  }

  #isToken(token: string | undefined): boolean {
    if (this.#digest === undefined || token === undefined) return false
    // Digests have one length, so that not even the length of the real one shows in the time this takes.
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
