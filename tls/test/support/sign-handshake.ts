// The signature over a handshake, with a key that is at hand.

import { constants, type KeyObject, sign } from 'node:crypto'
import { HASH } from '../../src/crypto/hash.ts'
import type { SignAlgorithm, SignRequest, Tls12SignRequest } from '../../src/index.ts'
import {
  certificateVerifyContent,
  messageHash,
  parseServerHello,
  suiteHash,
} from '../../src/messages/index.ts'
import { concat } from '../../src/messages/writer.ts'

/** What `/v1/sign` does: rebuilds the content from the messages, then signs it. */
export function signHandshake(key: KeyObject, request: SignRequest): Uint8Array {
  return signContent(key, request.algorithm, verifyContent(request))
}

/** A ServerKeyExchange (RFC 8422 §5.4): what only a site with a key of its own may sign. */
export function signTls12Handshake(key: KeyObject, request: Tls12SignRequest): Uint8Array {
  const { clientRandom, serverRandom, serverEcdhParams } = request
  return signContent(key, request.algorithm, concat(clientRandom, serverRandom, serverEcdhParams))
}

function signContent(key: KeyObject, algorithm: SignAlgorithm, content: Uint8Array): Uint8Array {
  const padding =
    algorithm === 'RSA_PSS_SHA256'
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : {}
  const digest = algorithm === 'Ed25519' ? null : 'sha256'
  return new Uint8Array(sign(digest, content, { key, ...padding }))
}

function verifyContent(request: SignRequest): Uint8Array {
  const hash = HASH[suiteHash(parseServerHello(request.serverHello).cipherSuite)!]
  const hellos =
    request.helloRetryRequest === undefined
      ? [request.clientHello]
      : [messageHash(hash.digest(request.clientHello)), request.helloRetryRequest, request.clientHelloRetry!]
  const messages = [...hellos, request.serverHello, request.encryptedExtensions, request.certificate]
  return certificateVerifyContent(hash.digest(concat(...messages)))
}
