// Selects the PSK of a ClientHello that resumes a session (RFC 8446 §4.2.11).

import type { ConnectionInfo, Settings } from '../config.ts'
import { equalInConstantTime } from '../crypto/constant-time.ts'
import { hashOf } from '../crypto/hash.ts'
import { EarlySecret } from '../crypto/key-schedule.ts'
import type { Secrets } from '../crypto/secrets.ts'
import type { TranscriptHash } from '../crypto/transcript-hash.ts'
import { violation } from '../errors.ts'
import { PSK_IDENTITIES_MAX } from '../limits.ts'
import type { ClientHello } from '../messages/client-hello.ts'
import { suiteHash } from '../messages/transcript.ts'
import type { Session } from '../session-tickets.ts'
import { allowsResumption, type NegotiatedParameters } from './negotiate.ts'

export interface AcceptedPsk {
  /** The index of the identity in the client's list. */
  index: number
  earlySecret: EarlySecret
  /** The time of the session's handshake with a certificate, in seconds since the Unix epoch. */
  authenticatedAt: number
}

/** The properties that a connection must share with those that resume it. */
type SessionKind = Omit<Session, 'psk' | 'authenticatedAt'>

export function sessionOf(
  info: Pick<ConnectionInfo, 'cipherSuite' | 'serverName' | 'alpn'>,
  { certificateChain, crypto }: Settings,
): SessionKind {
  return {
    hash: suiteHash(info.cipherSuite)!,
    serverName: info.serverName ?? '',
    alpn: info.alpn ?? '',
    certificate: hashOf(crypto, 'SHA-256').digest(certificateChain[0]!),
  }
}

/**
 * Resolves with the first identity that is one of the server's tickets for the same hash, name, protocol and
 * certificate.
 * @param transcript the messages before this ClientHello
 * @returns undefined when there is none, and the handshake continues with the certificate
 * @throws TlsError `decrypt_error` when the binder of that identity is wrong
 */
export async function acceptPsk(
  hello: ClientHello,
  negotiated: NegotiatedParameters,
  transcript: TranscriptHash,
  settings: Settings,
  secrets: Secrets,
): Promise<AcceptedPsk | undefined> {
  const offered = hello.preSharedKey
  if (offered === undefined || settings.tickets === undefined || !allowsResumption(hello)) return undefined
  const wanted = sessionOf({ ...negotiated, serverName: hello.serverName }, settings)
  for (const [index, { identity }] of offered.identities.slice(0, PSK_IDENTITIES_MAX).entries()) {
    const session = await settings.tickets.open(identity)
    if (session === undefined) continue
    if (!isSameKind(session, wanted)) {
      session.psk.fill(0)
      continue
    }
    const earlySecret = new EarlySecret(hashOf(settings.crypto, session.hash), session.psk, secrets)
    // The binder covers the ClientHello up to the list of binders (§4.2.11.2).
    const truncatedHello = hello.message.subarray(0, hello.message.length - offered.bindersLength)
    if (!equalInConstantTime(offered.binders[index]!, earlySecret.binder(transcript.digest(truncatedHello))))
      throw violation('decrypt_error', 'a PSK binder does not verify')
    return { index, earlySecret, authenticatedAt: session.authenticatedAt }
  }
  return undefined
}

function isSameKind(a: SessionKind, b: SessionKind): boolean {
  return (
    a.hash === b.hash &&
    a.serverName === b.serverName &&
    a.alpn === b.alpn &&
    a.certificate.join() === b.certificate.join()
  )
}
