// Signs handshakes with a local key, for a site with its own certificate.

import type { ServerConfig, SignRequest } from '../config.ts'
import { hashOf } from '../crypto/hash.ts'
import type { CryptoProvider, MaybePromise } from '../crypto/provider.ts'
import { webCrypto } from '../crypto/webcrypto.ts'
import { violation } from '../errors.ts'
import { certificateVerifyContent } from '../messages/certificate-verify-content.ts'
import { parseServerHello } from '../messages/server-hello.ts'
import { messageHash, suiteHash } from '../messages/transcript.ts'
import { concat } from '../messages/writer.ts'

/** KeySigner signs `content` with the algorithm of the certificate's key. ECDSA signatures are DER (RFC 3279 §2.2.3). */
export type KeySigner = (content: Uint8Array) => MaybePromise<Uint8Array>

/**
 * Returns the signers of `ServerConfig`, of both versions, for a local key. No other host's certificate may have
 * the key if `signTls12` is used.
 * @param crypto the provider of the hashes
 */
export function ownKeySigners(
  sign: KeySigner,
  crypto: CryptoProvider = webCrypto,
): Required<Pick<ServerConfig, 'sign'>> & { signTls12: NonNullable<ServerConfig['signTls12']> } {
  return {
    sign: (request) => sign(certificateVerifyContent(transcriptHash(request, crypto))),
    signTls12: ({ clientRandom, serverRandom, serverEcdhParams }) =>
      sign(concat(clientRandom, serverRandom, serverEcdhParams)),
  }
}

/** Hashes the messages up to the Certificate (RFC 8446 §4.4.1). */
function transcriptHash(request: SignRequest, crypto: CryptoProvider): Uint8Array {
  const { clientHello, helloRetryRequest, clientHelloRetry, serverHello } = request
  const name = suiteHash(parseServerHello(serverHello).cipherSuite)
  if (name === undefined) throw violation('internal_error', 'the ServerHello selects no suite of TLS 1.3')
  const hash = hashOf(crypto, name)
  const hellos =
    helloRetryRequest === undefined || clientHelloRetry === undefined
      ? [clientHello]
      : [messageHash(hash.digest(clientHello)), helloRetryRequest, clientHelloRetry]
  return hash.digest(concat(...hellos, serverHello, request.encryptedExtensions, request.certificate))
}
