// Chooses a connection's version (RFC 8446 §4.2.1, §D.2), and with it the handshake.

import type { Settings, Tls12Settings } from './config.ts'
import type { Secrets } from './crypto/secrets.ts'
import { violation } from './errors.ts'
import type { Channel } from './handshake/channel.ts'
import { handshake } from './handshake/handshake.ts'
import type { HandshakeResult } from './handshake/handshake-result.ts'
import { type ClientHello, parseClientHello } from './messages/client-hello.ts'
import { HANDSHAKE_TYPE, TLS_FALLBACK_SCSV, VERSION } from './messages/constants.ts'

/**
 * Runs the handshake up to the client's Finished.
 * @param leaving aborts when the client has left
 * @throws TlsError with the alert that ends the connection
 */
export async function accept(
  channel: Channel,
  settings: Settings,
  secrets: Secrets,
  leaving: AbortSignal,
): Promise<HandshakeResult> {
  const hello = parseClientHello(await channel.read(HANDSHAKE_TYPE.client_hello))
  const { onSecret } = settings
  if (onSecret) secrets.log = (label, secret) => onSecret(label, hello.random.slice(), secret.slice())
  if (offersTls13(hello)) return handshake(hello, channel, settings, secrets, leaving)
  requireTls12(hello, settings)
  const late = await import('./late.ts')
  return late.handshakeTls12(hello, channel, settings, secrets, leaving)
}

/** Says whether the client offers TLS 1.3 (§4.2.1). §D.5 forbids even to negotiate with an SSL 3.0 client. */
function offersTls13({ legacyVersion, supportedVersions }: ClientHello): boolean {
  return legacyVersion > VERSION.ssl30 && supportedVersions.includes(VERSION.tls13)
}

function requireTls12(hello: ClientHello, settings: Settings): asserts settings is Tls12Settings {
  // If present, supported_versions decides, even about older versions (§4.2.1).
  const { legacyVersion, supportedVersions } = hello
  const tls12 =
    supportedVersions.length > 0 ? supportedVersions.includes(VERSION.tls12) : legacyVersion >= VERSION.tls12
  if (settings.signTls12 === undefined || !tls12) throw violation('protocol_version', 'no version in common')
  // The client tried a newer version before, which the server supports (RFC 7507 §3).
  if (hello.cipherSuites.includes(TLS_FALLBACK_SCSV))
    throw violation('inappropriate_fallback', 'a fallback from TLS 1.3')
}
