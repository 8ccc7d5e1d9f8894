// The request that the handler behind the sign-in gets: with the wallet's address in a field that no visitor can set or remove.

import { buildRequest } from '../../exchange/fetch-request.ts'
import { checksumAddress } from '../../identity/key.ts'
import { type Session, withoutSession } from './sessions.ts'

/** The field in which the handler finds the address, with its EIP-55 checksum. */
const WALLET_FIELD = 'X-Svc-Wallet'

const SPELLED: string = spell(WALLET_FIELD)

/** Makes a new request, so that copies of it also have the same fields. */
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

/** Removes this field's name from Connection, whose fields a proxy drops (RFC 9110 §7.6.1). */
function withoutField(connection: string): string {
  return connection
    .split(',')
    .map((option) => option.trim())
    .filter((option) => spell(option) !== SPELLED)
    .join(', ')
}

/** Treats all characters except letters and digits alike, as servers do that turn fields into variables (RFC 3875 §4.1.18). */
function spell(name: string): string {
  return name.toLowerCase().replace(/[^a-z\d]/g, '-')
}
