// Rebuilds what a tenant's CertificateVerify signs, from handshake messages that are checked one by one.

import { createHash } from 'node:crypto'
import {
  certificateVerifyContent,
  messageHash,
  parseCertificate,
  parseClientHello,
  parseEncryptedExtensions,
  parseServerHello,
  suiteHash,
} from '@svc/tls/messages'
import { SignError } from './sign-error.ts'

/** Whole handshake messages, in the order of the handshake (RFC 8446 §2). */
export interface HandshakeMessages {
  /** The first one, when there was a HelloRetryRequest. */
  clientHello: Uint8Array
  retry: { helloRetryRequest: Uint8Array; clientHello: Uint8Array } | undefined
  serverHello: Uint8Array
  encryptedExtensions: Uint8Array
  certificate: Uint8Array
}

const TLS_1_3 = 0x0304

/**
 * The TLS 1.3 server CertificateVerify content (RFC 8446 §4.4.3) over `messages`.
 * @param chain DER, leaf first: the only certificates that the relay's key speaks for
 * @param isHostname whether a server name belongs to the lease that asks
 * @throws SignError or DecodeError when any message is not what the relay would put its name to
 */
export function signedContent(
  messages: HandshakeMessages,
  chain: readonly Uint8Array[],
  isHostname: (serverName: string) => boolean,
): Uint8Array {
  const serverHello = parseServerHello(messages.serverHello)
  if (serverHello.isHelloRetryRequest || serverHello.selectedVersion !== TLS_1_3)
    throw new SignError(400, 'server_hello does not negotiate TLS 1.3')
  const hash = suiteHash(serverHello.cipherSuite)
  if (hash === undefined) throw new SignError(400, 'server_hello names an unknown cipher suite')
  requireHostname(messages.clientHello, isHostname)
  if (messages.retry !== undefined) requireRetry(messages.retry, serverHello.cipherSuite, isHostname)
  parseEncryptedExtensions(messages.encryptedExtensions)
  requireChain(messages.certificate, chain)
  return certificateVerifyContent(transcriptHash(messages, hash))
}

function requireHostname(clientHello: Uint8Array, isHostname: (serverName: string) => boolean): void {
  const { serverName } = parseClientHello(clientHello)
  if (serverName === undefined || !isHostname(serverName))
    throw new SignError(403, 'client_hello does not name a hostname of this lease')
}

function requireRetry(
  retry: { helloRetryRequest: Uint8Array; clientHello: Uint8Array },
  cipherSuite: number,
  isHostname: (serverName: string) => boolean,
): void {
  const request = parseServerHello(retry.helloRetryRequest)
  if (!request.isHelloRetryRequest || request.cipherSuite !== cipherSuite)
    throw new SignError(400, 'hello_retry_request does not belong to server_hello')
  requireHostname(retry.clientHello, isHostname)
}

function requireChain(certificate: Uint8Array, chain: readonly Uint8Array[]): void {
  const { context, certificates } = parseCertificate(certificate)
  const same =
    certificates.length === chain.length &&
    certificates.every((der, index) => Buffer.compare(der, chain[index]!) === 0)
  if (context.length > 0 || !same) throw new SignError(403, "certificate does not carry this relay's chain")
}

/** RFC 8446 §4.4.1: after a HelloRetryRequest the first ClientHello counts as its hash. */
function transcriptHash(messages: HandshakeMessages, hash: 'SHA-256' | 'SHA-384'): Buffer {
  const digest = (parts: readonly Uint8Array[]): Buffer => {
    const running = createHash(hash)
    for (const part of parts) running.update(part)
    return running.digest()
  }
  const { clientHello, retry, serverHello, encryptedExtensions, certificate } = messages
  const hellos =
    retry === undefined
      ? [clientHello]
      : [messageHash(digest([clientHello])), retry.helloRetryRequest, retry.clientHello]
  return digest([...hellos, serverHello, encryptedExtensions, certificate])
}
