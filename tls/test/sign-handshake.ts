// The signature over a handshake, with a key that is at hand.

import { constants, type KeyObject, sign } from 'node:crypto'
import { HASH } from '../src/crypto/hash.ts'
import type { SignRequest, Tls13SignRequest } from '../src/index.ts'
import { certificateVerifyContent, messageHash, parseServerHello, suiteHash } from '../src/messages/index.ts'
import { concat } from '../src/messages/writer.ts'

/** What `/v1/sign` does: rebuilds the content from the messages, then signs it. */
export function signHandshake(key: KeyObject, request: SignRequest): Uint8Array {
  const content =
    request.version === 'TLSv1.2'
      ? concat(request.clientRandom, request.serverRandom, request.serverEcdhParams)
      : verifyContent(request)
  const padding =
    request.algorithm === 'RSA_PSS_SHA256'
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : {}
  const digest = request.algorithm === 'Ed25519' ? null : 'sha256'
  return new Uint8Array(sign(digest, content, { key, ...padding }))
}

function verifyContent(request: Tls13SignRequest): Uint8Array {
  const hash = HASH[suiteHash(parseServerHello(request.serverHello).cipherSuite)!]
  const hellos =
    request.helloRetryRequest === undefined
      ? [request.clientHello]
      : [messageHash(hash.digest(request.clientHello)), request.helloRetryRequest, request.clientHelloRetry!]
  const messages = [...hellos, request.serverHello, request.encryptedExtensions, request.certificate]
  return certificateVerifyContent(hash.digest(concat(...messages)))
}
