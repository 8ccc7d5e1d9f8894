// Client certificates in Node's TLS: OpenSSL asks for them and verifies them, and this file reads what it found.

import { constants } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { type SecureContextOptions, TLSSocket } from 'node:tls'
import type { ClientCertificate, ClientCertificateCheck } from '@svc/sdk-core'

const LISTS = /-----BEGIN X509 CRL-----[^-]*-----END X509 CRL-----/g

/** An option that Node's types lack: a trusted certificate need not be that of a root. */
const PARTIAL_CHAIN: object = { allowPartialTrustChain: true }

/** Returns what a context needs. Without tickets, each connection is verified. */
export function clientContext({ ca, crl }: ClientCertificateCheck): SecureContextOptions {
  return {
    ca,
    // Node reads only the first list of a text.
    ...(crl !== undefined && { crl: crl.match(LISTS) ?? [] }),
    ...PARTIAL_CHAIN,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET,
  }
}

/** The handle of a TLS socket: `tls.Server` takes OpenSSL's verdict from it, for which sockets without a server have no other way. */
interface VerifyingHandle {
  verifyError(): Error | null
}

function handleOf(socket: TLSSocket): VerifyingHandle | undefined {
  const { _handle: handle } = socket as unknown as { _handle?: Partial<VerifyingHandle> | null }
  return typeof handle?.verifyError === 'function' ? (handle as VerifyingHandle) : undefined
}

let verifies: boolean | undefined

/** Returns whether OpenSSL's verdict can be had. Otherwise the engine serves such a site. */
export function verifiesCertificates(): boolean {
  if (verifies === undefined) {
    const socket = new TLSSocket(new PassThrough(), { isServer: true })
    verifies = handleOf(socket) !== undefined
    socket.destroy()
  }
  return verifies
}

/**
 * Resolves with the visitor's certificate after the handshake. Undefined when the visitor has none and needs none.
 * @throws an error with OpenSSL's reason in `code`
 */
export async function verifiedCertificate(
  socket: TLSSocket,
  { required, describe }: ClientCertificateCheck,
): Promise<ClientCertificate | undefined> {
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined && !required) return undefined
  const refusal = handleOf(socket)?.verifyError()
  if (certificate === undefined || refusal !== null)
    throw refusal ?? new Error('there is no client certificate')
  return describe(new Uint8Array(certificate.raw))
}
