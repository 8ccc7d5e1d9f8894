// Asks clients for certificates and verifies them: one object for all connections of a server.

import { TlsError, violation } from '../errors.ts'
import type { ClientAuthentication, ClientCertificate } from '../handshake/client-authentication.ts'
import { HANDSHAKE_TYPE } from '../messages/constants.ts'
import { concat } from '../messages/writer.ts'
import { readCertificate, type X509Certificate } from '../x509/certificate.ts'
import { type PathOptions, validPath } from '../x509/path.ts'
import { readRevocationList } from '../x509/revocation-list.ts'
import { verifySignature } from '../x509/verify-signature.ts'
import { describeCertificate } from './client-certificate.ts'
import {
  encodeRequest,
  encodeRequestTls12,
  parseCertificates,
  parseCertificatesTls12,
  parseCertificateVerify,
  verifyContent,
} from './messages.ts'
import { readPem } from './pem.ts'
import { SCHEMES } from './schemes.ts'

export interface ClientAuthenticationOptions {
  /** PEM of the CAs whose certificates are accepted. Each is a certificate of version 3 with basicConstraints. */
  ca: string
  /** Refuses clients without a certificate. One that does not verify is always refused. */
  required: boolean
  /**
   * PEM of revocation lists. With them, each certificate of a path needs a current list of its issuer.
   * @default none: nothing is revoked
   */
  crl?: string | undefined
  /**
   * Returns the current time, in milliseconds since the epoch.
   * @default Date.now
   */
  now?: (() => number) | undefined
}

type Channel = Parameters<ClientAuthentication['read']>[0]
type Transcript = Parameters<ClientAuthentication['read']>[1]

/**
 * Makes a ClientAuthentication, for which it checks all options.
 * @throws TlsError `invalid_config`, whose message begins with the option
 */
export function clientAuthentication(options: ClientAuthenticationOptions): ClientAuthentication {
  const anchors = inOption('ca', () => readAnchors(options.ca))
  const { crl, required, now = Date.now } = options
  const revocationLists =
    crl === undefined ? undefined : inOption('crl', () => readPem(crl, 'X509 CRL').map(readRevocationList))
  if (revocationLists && anchors.some(({ issuer, subject }) => issuer !== subject))
    throw new TlsError('invalid_config', 'ca: with crl, each certificate must be that of a root')
  const names = anchors.map(({ subjectName }) => subjectName)
  const verifier = new Verifier(required, () => ({ anchors, revocationLists, now: now() }))
  return {
    request: encodeRequest(names),
    requestTls12: encodeRequestTls12(names),
    read: (channel, transcript) => verifier.read(channel, transcript),
    readTls12: (channel, transcript) => verifier.readTls12(channel, transcript),
  }
}

function readAnchors(pem: string): X509Certificate[] {
  const anchors = readPem(pem, 'CERTIFICATE').map(readCertificate)
  const other = anchors.find(({ extensions }) => !extensions.isCa)
  if (other) throw new TlsError('invalid_config', 'one of its certificates is not that of a CA')
  return anchors
}

function inOption<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new TlsError('invalid_config', `${name}: ${(cause as Error).message}`, { cause })
  }
}

class Verifier {
  readonly #required: boolean
  readonly #options: () => PathOptions

  constructor(required: boolean, options: () => PathOptions) {
    this.#required = required
    this.#options = options
  }

  async read(channel: Channel, transcript: Transcript): Promise<ClientCertificate | undefined> {
    const leaf = await this.#readCertificate(channel, transcript, parseCertificates)
    if (leaf === undefined) return undefined
    const content = verifyContent(transcript.digest())
    return this.#readVerify(channel, transcript, leaf, content, false)
  }

  async readTls12(channel: Channel, transcript: Transcript): ReturnType<ClientAuthentication['readTls12']> {
    const leaf = await this.#readCertificate(channel, transcript, parseCertificatesTls12)
    return async (channel, transcript, before) =>
      leaf && this.#readVerify(channel, transcript, leaf, concat(...before), true)
  }

  /** Resolves with the client's certificate, once its path is valid. */
  async #readCertificate(
    channel: Channel,
    transcript: Transcript,
    parse: (message: Uint8Array) => Uint8Array[],
  ): Promise<X509Certificate | undefined> {
    const message = await channel.read(HANDSHAKE_TYPE.certificate)
    transcript.add(message)
    const [leaf, ...others] = parse(message).map(readCertificate)
    if (leaf === undefined && this.#required)
      throw violation('certificate_required', 'the client sent no certificate')
    if (leaf) await validPath([leaf, ...others], this.#options())
    return leaf
  }

  /** Requires a signature by the certificate's key (RFC 8446 §4.4.3). */
  async #readVerify(
    channel: Channel,
    transcript: Transcript,
    leaf: X509Certificate,
    content: Uint8Array,
    isTls12: boolean,
  ): Promise<ClientCertificate> {
    const message = await channel.read(HANDSHAKE_TYPE.certificate_verify)
    const { scheme, signature } = parseCertificateVerify(message)
    const known = SCHEMES.get(scheme)
    const { publicKey } = leaf
    if (known === undefined || (known.isLegacy && !isTls12))
      throw violation('illegal_parameter', `CertificateVerify has scheme ${scheme}, which was not offered`)
    if (publicKey === undefined)
      throw violation('unsupported_certificate', 'the key of the certificate is not supported')
    if (publicKey.type !== known.keyType && !(isTls12 && known.algorithm.name === 'ECDSA'))
      throw violation('illegal_parameter', 'CertificateVerify has a scheme for another key')
    if (!(await verifySignature(known.algorithm, publicKey, signature, content)))
      throw violation('decrypt_error', 'CertificateVerify does not verify')
    transcript.add(message)
    return describeCertificate(leaf)
  }
}
