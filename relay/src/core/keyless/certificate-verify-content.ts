// Rebuilds the content that a CertificateVerify of TLS 1.3 signs, from checked handshake messages.

import { createHash } from 'node:crypto'
import {
  type Certificate,
  type ClientHello,
  messageHash,
  parseClientHello,
  parseEncryptedExtensions,
  parseServerHello,
  suiteHash,
  certificateVerifyContent as verifyContent,
} from '@svc/tls/messages'
import { isSameChain, type PresentedChain } from './presented-chain.ts'
import { SignError } from './sign-error.ts'

/** Whole handshake messages, in the order of the handshake (RFC 8446 §2). */
export interface ServerMessages {
  retry: { helloRetryRequest: Uint8Array; clientHello: Uint8Array } | undefined
  serverHello: Uint8Array
  encryptedExtensions: Uint8Array
  /** Certificate or CompressedCertificate, as the SDK sends it to the visitor. */
  certificate: Uint8Array
}

const TLS_1_3 = 0x0304
const HTTP2 = 'h2'

/**
 * The server's CertificateVerify content (RFC 8446 §4.4.3).
 * @param hello the first ClientHello of the handshake
 * @param sent the parsed `messages.certificate`
 * @param presented the only certificates for which the relay signs
 * @throws SignError or DecodeError for any message for which the relay does not sign
 */
export function certificateVerifyContent(
  hello: ClientHello,
  messages: ServerMessages,
  sent: Certificate,
  presented: PresentedChain,
): Uint8Array {
  const serverHello = parseServerHello(messages.serverHello)
  if (serverHello.isHelloRetryRequest || serverHello.selectedVersion !== TLS_1_3)
    throw new SignError(400, 'server_hello does not negotiate TLS 1.3')
  const hash = suiteHash(serverHello.cipherSuite)
  if (hash === undefined) throw new SignError(400, 'server_hello names an unknown cipher suite')
  if (messages.retry !== undefined) requireRetry(hello, messages.retry, serverHello.cipherSuite)
  const { alpn } = parseEncryptedExtensions(messages.encryptedExtensions)
  requireChain(sent, presented.chain)
  // Browsers use one HTTP/2 connection for all hosts that a certificate names (RFC 9113 §9.1.1).
  if (alpn === HTTP2 && !presented.isLeaseCertificate)
    throw new SignError(403, 'h2 needs a certificate that names hostnames of this lease only')
  return verifyContent(transcriptHash(hello, messages, hash))
}

function requireRetry(
  hello: ClientHello,
  retry: { helloRetryRequest: Uint8Array; clientHello: Uint8Array },
  cipherSuite: number,
): void {
  const request = parseServerHello(retry.helloRetryRequest)
  if (!request.isHelloRetryRequest || request.cipherSuite !== cipherSuite)
    throw new SignError(400, 'hello_retry_request does not belong to server_hello')
  if (parseClientHello(retry.clientHello).serverName !== hello.serverName)
    throw new SignError(403, 'client_hello_retry names another host')
}

function requireChain({ context, certificates }: Certificate, chain: readonly Uint8Array[]): void {
  if (context.length > 0 || !isSameChain(certificates, chain))
    throw new SignError(403, "certificate does not carry this relay's chain")
}

/** RFC 8446 §4.4.1: after a HelloRetryRequest the transcript has the hash of the first ClientHello. */
function transcriptHash(hello: ClientHello, messages: ServerMessages, hash: 'SHA-256' | 'SHA-384'): Buffer {
  const digest = (parts: readonly Uint8Array[]): Buffer => {
    const running = createHash(hash)
    for (const part of parts) running.update(part)
    return running.digest()
  }
  const { retry, serverHello, encryptedExtensions, certificate } = messages
  const hellos =
    retry === undefined
      ? [hello.message]
      : [messageHash(digest([hello.message])), retry.helloRetryRequest, retry.clientHello]
  return digest([...hellos, serverHello, encryptedExtensions, certificate])
}
