// Signs handshakes for `/v1/sign`. It rebuilds the signed content itself, from checked messages.

import { constants, type KeyObject, sign } from 'node:crypto'
import {
  SIGN_CLOCK_SKEW_S,
  SIGN_KEY_ID,
  type SignAlgorithm,
  type SignRequest,
  type SignResponse,
} from '@svc/protocol'
import { type Certificate, type ClientHello, DecodeError, parseClientHello } from '@svc/tls/messages'
import type { CertificateRotation } from '../certificates/certificate-rotation.ts'
import type { Lease } from '../lease/lease.ts'
import { siteHostnames } from '../lease/site-hostnames.ts'
import { certificateVerifyContent, type ServerMessages } from './certificate-verify-content.ts'
import { type PresentedChain, presentedChain } from './presented-chain.ts'
import { parseSentCertificate } from './sent-certificate.ts'
import { SignError } from './sign-error.ts'

/** Uses a binding up in the process that issued it. @returns whether it was valid for this lease and ClientHello */
export type SpendBinding = (
  binding: Buffer,
  lease: Lease,
  clientHello: Uint8Array,
) => boolean | Promise<boolean>

export class KeylessSigner {
  readonly #certificates: CertificateRotation
  readonly #spend: SpendBinding
  readonly #rootHost: string

  /** @param rootHost for which nothing is signed, whatever a lease says */
  constructor(rootHost: string, certificates: CertificateRotation, spend: SpendBinding) {
    this.#rootHost = rootHost
    this.#certificates = certificates
    this.#spend = spend
  }

  /** Signs a handshake. Rejects an invalid request with a SignError, after which its binding stays valid. */
  async sign(request: SignRequest, lease: Lease): Promise<SignResponse> {
    if (request.key_id !== SIGN_KEY_ID) throw new SignError(400, `key_id must be ${SIGN_KEY_ID}`)
    const sent = decoded(() => parseSentCertificate(bytes(request.certificate)))
    const presented = presentedChain(sent.certificates, this.#certificates.presentable, lease)
    const { algorithm, key } = presented.certificates
    if (request.algorithm !== algorithm) throw new SignError(400, `algorithm must be ${algorithm}`)
    if (Math.abs(request.timestamp_unix - Date.now() / 1000) > SIGN_CLOCK_SKEW_S)
      throw new SignError(403, `timestamp_unix is more than ${SIGN_CLOCK_SKEW_S} s off`)
    const clientHello = Buffer.from(request.client_hello, 'base64')
    const binding = Buffer.from(request.binding, 'base64')
    const content = rebuild(
      request,
      parseHello(clientHello, siteHostnames(lease, this.#rootHost)),
      sent,
      presented,
    )
    if (!(await this.#spend(binding, lease, clientHello)))
      throw new SignError(403, 'binding is not valid for this lease and client_hello')
    const signature = signContent(algorithm, key, content).toString('base64')
    return { key_id: SIGN_KEY_ID, algorithm, signature }
  }
}

/** Parses the ClientHello. The binding then proves that the relay bridged it. */
function parseHello(message: Uint8Array, hostnames: readonly string[]): ClientHello {
  const hello = decoded(() => parseClientHello(message))
  if (hello.serverName === undefined || !hostnames.includes(hello.serverName))
    throw new SignError(403, 'client_hello does not name a hostname of this lease')
  return hello
}

function rebuild(
  request: SignRequest,
  hello: ClientHello,
  sent: Certificate,
  presented: PresentedChain,
): Uint8Array {
  return decoded(() => certificateVerifyContent(hello, messagesOf(request), sent, presented))
}

function messagesOf(request: SignRequest): ServerMessages {
  const { hello_retry_request, client_hello_retry } = request
  if ((hello_retry_request === undefined) !== (client_hello_retry === undefined))
    throw new SignError(400, 'hello_retry_request and client_hello_retry belong together')
  return {
    retry:
      hello_retry_request === undefined || client_hello_retry === undefined
        ? undefined
        : { helloRetryRequest: bytes(hello_retry_request), clientHello: bytes(client_hello_retry) },
    serverHello: bytes(request.server_hello),
    encryptedExtensions: bytes(request.encrypted_extensions),
    certificate: bytes(request.certificate),
  }
}

function decoded<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof DecodeError) throw new SignError(400, error.message)
    throw error
  }
}

function bytes(base64: string): Buffer {
  return Buffer.from(base64, 'base64')
}

/** Signs with the signature scheme of the algorithm (RFC 8446 §4.2.3). */
function signContent(algorithm: SignAlgorithm, key: KeyObject, content: Uint8Array): Buffer {
  if (algorithm === 'Ed25519') return sign(null, content, key)
  if (algorithm === 'ECDSA_SHA256') return sign('sha256', content, key)
  const padding = constants.RSA_PKCS1_PSS_PADDING
  return sign('sha256', content, { key, padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST })
}
