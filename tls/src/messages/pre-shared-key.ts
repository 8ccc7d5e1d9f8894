// Parses the pre_shared_key extension of a ClientHello (RFC 8446 §4.2.11).

import { DecodeError } from './errors.ts'
import { Reader } from './reader.ts'

/** OfferedPsks is the extension `pre_shared_key` of a ClientHello (RFC 8446 §4.2.11). */
export interface OfferedPsks {
  identities: { identity: Uint8Array; obfuscatedTicketAge: number }[]
  /** One binder for each identity, in their order. */
  binders: Uint8Array[]
  /**
   * The bytes of the binder list at the end of the ClientHello. A binder covers everything before the list (§4.2.11.2).
   */
  bindersLength: number
}

export function parsePreSharedKey(body: Uint8Array): OfferedPsks {
  const extension = new Reader(body, 'pre_shared_key')
  const identityList = new Reader(extension.vector(2, 7), 'PSK identities')
  const bindersLength = body.length - extension.offset
  const binderList = new Reader(extension.vector(2, 33), 'PSK binders')
  extension.end()

  const identities: OfferedPsks['identities'] = []
  while (!identityList.done)
    identities.push({ identity: identityList.vector(2, 1), obfuscatedTicketAge: identityList.u32() })
  const binders: Uint8Array[] = []
  while (!binderList.done) binders.push(binderList.vector(1, 32))
  if (identities.length !== binders.length)
    throw new DecodeError('illegal_parameter', 'PSK identities and binders do not match')
  return { identities, binders, bindersLength }
}
