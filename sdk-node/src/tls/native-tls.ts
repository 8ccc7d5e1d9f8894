// Terminates visitors' TLS with Node's OpenSSL, when the site has the key of its certificate.

import { constants, KeyObject } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import type { ByteStream, EndTls, EndTlsOptions, SecureInfo, SiteKey, TlsConnection } from '@svc/sdk-core'
import { type Meter, SocketStream } from '../net/socket-stream.ts'
import { StreamDuplex } from '../net/stream-duplex.ts'
import { clientContext, verifiedCertificate, verifiesCertificates } from './client-certificates.ts'

/** How long OpenSSL seals visitors' tickets with one key, in milliseconds: the lifetime of the engine's tickets. */
export const TLS_CONTEXT_LIFETIME_MS: number = 24 * 60 * 60_000

/** The engine's ciphers: only forward secrecy and AEADs, in its order of preference. */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
].join(':')
/** An option that Node's types lack: visitors may half-close. */
const HALF_OPEN: object = { allowHalfOpen: true }
/** `LABEL CLIENT_RANDOM SECRET` (NSS key log format). */
const KEY_LOG_LINE = /^(\w+) ([\da-f]{64}) ([\da-f]+)\s*$/

interface KeptContext {
  context: SecureContext
  /** The time of `performance.now()` at which its ticket key was created. */
  madeAt: number
}

/** Terminates TLS on any stream. OpenSSL reads and writes the socket of a native session directly. */
export function nativeTls(): EndTls {
  const contexts = new WeakMap<readonly Uint8Array[], KeptContext>()
  return (stream, options) => {
    const { key, chain, clientCertificates } = options
    if (!isNodeKey(key) || (clientCertificates && !verifiesCertificates())) return undefined
    let kept = contexts.get(chain)
    if (!kept || performance.now() - kept.madeAt > TLS_CONTEXT_LIFETIME_MS) {
      kept = { context: contextOf(options, key), madeAt: performance.now() }
      contexts.set(chain, kept)
    }
    return new NativeTlsStream(stream, kept.context, options)
  }
}

/** A key that OpenSSL can use. */
interface NativeKey extends SiteKey {
  readonly privateKey: KeyObject
}

function isNodeKey(key: SiteKey): key is NativeKey {
  return (key as Partial<NativeKey>).privateKey instanceof KeyObject
}

/** Makes a context with a new ticket key: sessions of an older one need a full handshake. */
function contextOf(
  { chain, minVersion, clientCertificates }: EndTlsOptions,
  { privateKey }: NativeKey,
): SecureContext {
  return createSecureContext({
    cert: chain.map(toPem).join(''),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    minVersion,
    ciphers: CIPHERS,
    honorCipherOrder: true,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    sessionTimeout: TLS_CONTEXT_LIFETIME_MS / 1000,
    sessionIdContext: 'site',
    ...(clientCertificates && clientContext(clientCertificates)),
  })
}

function toPem(der: Uint8Array): string {
  return `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE-----\n`
}

class NativeTlsStream extends SocketStream implements TlsConnection {
  readonly secure: Promise<SecureInfo>
  readonly #socket: TLSSocket

  constructor(carrier: ByteStream, secureContext: SecureContext, options: EndTlsOptions) {
    const { socket: outer, reset, meter } = released(carrier)
    const socket = new TLSSocket(outer, {
      isServer: true,
      secureContext,
      ALPNProtocols: [...options.alpn],
      requestCert: options.clientCertificates !== undefined,
      // OpenSSL then refuses a visitor without a certificate. Node leaves the verification of one to `secured`.
      rejectUnauthorized: options.clientCertificates?.required ?? false,
      ...HALF_OPEN,
    })
    super(socket, reset, meter)
    this.#socket = socket
    // RFC 8446 §6.2: a fatal error ends the connection. For a socket without a server, Node reports it only by this event, while it still
    // reads.
    socket.on('_tlsError', (error: Error) => setImmediate(() => socket.destroy(error)))
    this.secure = secured(socket, options)
    this.secure.catch(() => {}) // A caller that ignores it learns of the failure from read and write.
    const { onSecret } = options
    if (onSecret) socket.on('keylog', (line: Buffer) => logSecret(line, onSecret))
  }

  exportKeyingMaterial(label: string, length: number): Uint8Array {
    // Node's types require a context, which would change the result in TLS 1.2.
    const socket: { exportKeyingMaterial(length: number, label: string): Buffer } = this.#socket as never
    return new Uint8Array(socket.exportKeyingMaterial(length, label))
  }
}

/** Takes the socket of a native session, or wraps another stream, which its carrier meters. */
function released(carrier: ByteStream): {
  socket: Duplex
  reset: (inner: Socket) => void
  meter: Meter | undefined
} {
  if (carrier instanceof SocketStream) {
    const { socket, reset, meter } = carrier.release()
    return { socket, reset, meter: meter && meterOf(socket, meter) }
  }
  return { socket: new StreamDuplex(carrier), reset: () => carrier.abort(), meter: undefined }
}

/** Counts the bytes on the socket itself, because OpenSSL exposes only the plaintext to JavaScript. */
function meterOf(socket: Socket, meter: Meter): Meter {
  let { bytesRead, bytesWritten } = socket
  const received = (): void => {
    meter.received(socket.bytesRead - bytesRead)
    bytesRead = socket.bytesRead
  }
  const sent = (): void => {
    meter.sent(socket.bytesWritten - bytesWritten)
    bytesWritten = socket.bytesWritten
  }
  socket.once('close', () => {
    received()
    sent()
  })
  return { received, sent }
}

function secured(
  socket: TLSSocket,
  { handshakeTimeoutMs, clientCertificates }: EndTlsOptions,
): Promise<SecureInfo> {
  return new Promise((resolve, reject) => {
    let failure = failed('truncated', 'the connection closed within the handshake')
    socket.once('error', (error) => {
      failure = error
    })
    const late = (): void =>
      void socket.destroy(failed('handshake_timeout', 'the handshake was not done in time'))
    const deadline = setTimeout(late, handshakeTimeoutMs)
    socket.once('secure', () => {
      clearTimeout(deadline)
      const alpn = socket.alpnProtocol || undefined
      if (!clientCertificates) return resolve({ alpn })
      verifiedCertificate(socket, clientCertificates).then(
        (clientCertificate) => resolve({ alpn, clientCertificate }),
        (error: Error) => void socket.destroy(error),
      )
    })
    socket.once('close', () => {
      clearTimeout(deadline)
      reject(failure)
    })
  })
}

/** @param code the engine's code, by which the core distinguishes visitors who left from errors */
function failed(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

function logSecret(line: Buffer, onSecret: NonNullable<EndTlsOptions['onSecret']>): void {
  const [, label, clientRandom, secret] = KEY_LOG_LINE.exec(line.toString('latin1')) ?? []
  if (label && clientRandom && secret)
    onSecret(
      label,
      new Uint8Array(Buffer.from(clientRandom, 'hex')),
      new Uint8Array(Buffer.from(secret, 'hex')),
    )
}
