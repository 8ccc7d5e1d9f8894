// The request that the handler behind the sign-in gets: with the wallet's address, which no visitor can set or take away.

import { buildRequest } from '../../exchange/fetch-request.ts'
import { checksumAddress } from '../../identity/key.ts'
import { type Session, withoutSession } from './sessions.ts'

/** The field in which the handler finds the address, with its EIP-55 checksum. */
const WALLET_FIELD = 'X-Svc-Wallet'

const SPELLED: string = spell(WALLET_FIELD)

/** Makes a request anew, so that a copy of it has the same fields, too. */
export function passedRequest(request: Request, { address }: Session): Request {
  const headers = new Headers()
  for (const [name, value] of request.headers) {
    const kept =
      name === 'connection' ? withoutField(value) : name === 'cookie' ? withoutSession(value) : value
    const isEmptied = kept === '' && value !== ''
    if (spell(name) !== SPELLED && !isEmptied) headers.append(name, kept)
  }
  headers.set(WALLET_FIELD, checksumAddress(address))
  const { url, method, signal } = request
  return buildRequest(url, { method, headers, signal }, request.body ?? undefined)
}

/** The field Connection names fields that a proxy drops (RFC 9110 §7.6.1): it must not name this one. */
function withoutField(connection: string): string {
  return connection
    .split(',')
    .map((option) => option.trim())
    .filter((option) => spell(option) !== SPELLED)
    .join(', ')
}

/** Treats every character but letters and digits alike: servers that make variables of fields (RFC 3875 §4.1.18) do so. */
function spell(name: string): string {
  return name.toLowerCase().replace(/[^a-z\d]/g, '-')
}
