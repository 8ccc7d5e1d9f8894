// Which version a connection gets (RFC 8446 §4.2.1, §D.2), and with it which handshake.

import type { Settings, Tls12Settings } from './config.ts'
import type { Secrets } from './crypto/secrets.ts'
import { violation } from './errors.ts'
import type { Channel } from './handshake/channel.ts'
import { handshake } from './handshake/handshake.ts'
import type { HandshakeResult } from './handshake/handshake-result.ts'
import { type ClientHello, parseClientHello } from './messages/client-hello.ts'
import { HANDSHAKE_TYPE, TLS_FALLBACK_SCSV, VERSION } from './messages/constants.ts'

/**
 * Runs the handshake up to the client's Finished; `leaving` aborts when the client is gone.
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
  const tls12 = await import('./tls12/handshake.ts')
  return tls12.handshake(hello, channel, settings, secrets, leaving)
}

/** §4.2.1; §D.5 forbids even to look at the hello of an SSL 3.0 client. */
function offersTls13({ legacyVersion, supportedVersions }: ClientHello): boolean {
  return legacyVersion > VERSION.ssl30 && supportedVersions.includes(VERSION.tls13)
}

function requireTls12(hello: ClientHello, settings: Settings): asserts settings is Tls12Settings {
  // §4.2.1: supported_versions decides when it is there, even about what is older.
  const { legacyVersion, supportedVersions } = hello
  const tls12 =
    supportedVersions.length > 0 ? supportedVersions.includes(VERSION.tls12) : legacyVersion >= VERSION.tls12
  if (settings.signTls12 === undefined || !tls12)
    throw violation('protocol_version', 'the client does not offer a version that is served')
  // RFC 7507 §3: the client has tried more before, and we would have had more.
  if (hello.cipherSuites.includes(TLS_FALLBACK_SCSV))
    throw violation('inappropriate_fallback', 'the client fell back from TLS 1.3')
}
