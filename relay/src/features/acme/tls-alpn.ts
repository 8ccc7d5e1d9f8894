// Proves names by `tls-alpn-01` (RFC 8737): the relay answers a handshake for the name with a certificate that only the
// holder of the account can make.

import { createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto'
import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import { ACME_TLS_ALPN } from '@svc/protocol/acme'
import { DER_OID, encodeAcmeIdentifier, encodeDnsNames, encodeExtension, encodeName } from '@svc/tls/der'
import { buildCertificate, keyIdOf } from '../../core/certificates/certificate-builder.ts'
import { AcmeError } from './authority.ts'
import { PROOF_DEADLINE_MS, PROVEN_NAMES_MAX } from './limits.ts'
import type { Prover } from './proofs.ts'

const PROOF_DAYS = 1

export class TlsAlpnProver implements Prover {
  readonly type = 'tls-alpn-01'
  readonly #proofs = new Map<string, SecureContext>()
  /** The key of all proof certificates: it protects nothing. */
  #key: KeyObject | undefined

  show = async (name: string, keyAuthorization: string): Promise<() => Promise<void>> => {
    if (this.#proofs.has(name) || this.#proofs.size >= PROVEN_NAMES_MAX)
      throw new AcmeError(
        'rate_limited',
        `${name} cannot be proven now: it or many others are just being proven`,
      )
    const context = this.#contextOf(name, keyAuthorization)
    this.#proofs.set(name, context)
    return async () => void this.#proofs.delete(name)
  }

  /**
   * Answers a connection of the authority, and closes it.
   * @param socket paused, as if nothing had been read from it
   * @returns false for a name that is not being proven; the connection then stays open
   */
  serve(socket: Socket, serverName: string): boolean {
    const secureContext = this.#proofs.get(serverName)
    if (secureContext === undefined) return false
    const connection = new TLSSocket(socket, {
      isServer: true,
      secureContext,
      ALPNProtocols: [ACME_TLS_ALPN],
    })
    const deadline = setTimeout(() => socket.destroy(), PROOF_DEADLINE_MS)
    socket.on('close', () => clearTimeout(deadline))
    // After the handshake, Node reports an error only by the second one.
    for (const event of ['error', '_tlsError'])
      connection.on(event, () => setImmediate(() => socket.destroy()))
    // The proof is complete with the handshake (§3).
    connection.on('secure', () => connection.end())
    connection.resume()
    return true
  }

  #contextOf(name: string, keyAuthorization: string): SecureContext {
    this.#key ??= generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
    const publicKey = createPublicKey(this.#key).export({ type: 'spki', format: 'der' })
    const subject = encodeName(name)
    const cert = buildCertificate({
      issuer: { name: subject, keyId: keyIdOf(publicKey), key: this.#key },
      subject,
      publicKey,
      days: PROOF_DAYS,
      extensions: [
        encodeExtension(DER_OID.subjectAltName, encodeDnsNames([name])),
        encodeAcmeIdentifier(hash('sha256', keyAuthorization, 'buffer')),
      ],
    })
    const key = this.#key.export({ type: 'pkcs8', format: 'pem' })
    return createSecureContext({ cert, key, minVersion: 'TLSv1.2' })
  }
}
