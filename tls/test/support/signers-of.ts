// The signers of a handshake, with a key that is at hand.

import { constants, type KeyObject, sign } from 'node:crypto'
import { ownKeySigners } from '../../src/index.ts'

/** What only a site with a key of its own may do: it signs handshakes of TLS 1.3 and of TLS 1.2. */
export function signersOf(key: KeyObject): ReturnType<typeof ownKeySigners> {
  const isRsa = key.asymmetricKeyType === 'rsa'
  const padding = isRsa && {
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  }
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  return ownKeySigners((content) => new Uint8Array(sign(digest, content, { key, ...padding })))
}
