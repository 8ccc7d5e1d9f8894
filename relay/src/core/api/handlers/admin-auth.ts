// Checks admin tokens in constant time, and limits wrong ones per network.

import type { AdminAuthLoginResponse, AdminAuthStatusResponse } from '@svc/protocol'
import { networkOf } from '../../client-address/ip-address.ts'
import { RelayError } from '../../errors.ts'
import type { Logger } from '../../log/log.ts'
import type { Administrators } from '../../policy/administrators.ts'
import { FailedAttempts } from '../../rate-limit/failed-attempts.ts'

const UNAUTHORIZED = 401

/**
 * The relay compares the token before it looks at the limit, so that the right token always works. A wrong one counts on
 * every endpoint.
 */
export class AdminAuth {
  readonly #administrators: Administrators
  readonly #log: Logger
  readonly #attempts = new FailedAttempts()

  constructor(administrators: Administrators, log: Logger) {
    this.#administrators = administrators
    this.#log = log
  }

  /**
   * @param address normalized client address
   * @throws RelayError `unauthorized` (401), `rate_limited` for a wrong token after 5 in a minute from its network
   */
  login(token: string, address: string): AdminAuthLoginResponse {
    if (this.#administrators.isOff)
      throw new RelayError('feature_unavailable', 'this relay has no ADMIN_TOKEN')
    if (this.#administrators.nameOf(token) === undefined)
      this.#refuse(address, 'the token is not that of an administrator')
    return { access_token: token }
  }

  /** @throws RelayError `rate_limited`, as {@link login} does */
  status(authorization: string | undefined, address: string): AdminAuthStatusResponse {
    const token = bearer(authorization)
    const administrator = token === undefined ? undefined : this.#administrators.nameOf(token)
    if (token !== undefined && administrator === undefined) this.#count(address)
    return { authenticated: administrator !== undefined, administrator }
  }

  /**
   * @returns the name of the administrator
   * @throws RelayError `unauthorized` (401) without a valid bearer, and as {@link login} does
   */
  require(authorization: string | undefined, address: string): string {
    const token = bearer(authorization)
    const message = 'this endpoint needs the token of an administrator as a bearer'
    if (token === undefined) throw unauthorized(message)
    return this.#administrators.nameOf(token) ?? this.#refuse(address, message)
  }

  #refuse(address: string, message: string): never {
    this.#count(address)
    throw unauthorized(message)
  }

  /** A guess over the limit ends its connection, so that each further one costs the client a handshake. */
  #count(address: string): void {
    if (this.#administrators.isOff) return
    const { isFirst, waitS } = this.#attempts.failed(networkOf(address))
    if (waitS === undefined) this.#log.warn({ address }, 'a client sent a wrong admin token')
    else if (isFirst) this.#log.warn({ address, waitS }, 'a client sent too many wrong admin tokens')
    if (waitS !== undefined)
      throw new RelayError('rate_limited', 'your network sent too many wrong admin tokens', {
        'Retry-After': `${waitS}`,
        Connection: 'close',
      })
  }
}

function unauthorized(message: string): RelayError {
  return new RelayError('unauthorized', message, { 'WWW-Authenticate': 'Bearer' }, UNAUTHORIZED)
}

function bearer(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}
