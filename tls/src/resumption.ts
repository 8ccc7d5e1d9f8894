// Which of the PSKs that a ClientHello offers resumes a session (RFC 8446 §4.2.11).

import type { ConnectionInfo, Settings } from './config.ts'
import { equalInConstantTime } from './crypto/constant-time.ts'
import { hashOf } from './crypto/hash.ts'
import { violation } from './errors.ts'
import { EarlySecret } from './key-schedule.ts'
import { PSK_IDENTITIES_MAX } from './limits.ts'
import type { ClientHello } from './messages/client-hello.ts'
import { suiteHash } from './messages/transcript.ts'
import { type Agreement, allowsResumption } from './negotiate.ts'
import type { Secrets } from './secrets.ts'
import type { Session } from './tickets.ts'
import type { Transcript } from './transcript.ts'

export interface AcceptedPsk {
  /** Of the identity in the client's list. */
  index: number
  earlySecret: EarlySecret
}

/** The session that a ticket of this connection stands for. */
export function sessionOf(
  info: Pick<ConnectionInfo, 'cipherSuite' | 'serverName' | 'alpn'>,
  { certificateChain, crypto }: Settings,
  psk: Uint8Array,
): Session {
  return {
    hash: suiteHash(info.cipherSuite)!,
    psk,
    serverName: info.serverName ?? '',
    alpn: info.alpn ?? '',
    certificate: hashOf(crypto, 'SHA-256').digest(certificateChain[0]!),
  }
}

/**
 * The first identity that is a ticket of ours for the same hash, name, protocol and certificate.
 * `transcript` is what came before this ClientHello.
 * @returns undefined when there is none: the handshake goes on with the certificate
 * @throws TlsError `decrypt_error` when the binder of that identity is wrong
 */
export async function acceptPsk(
  hello: ClientHello,
  agreement: Agreement,
  transcript: Transcript,
  settings: Settings,
  secrets: Secrets,
): Promise<AcceptedPsk | undefined> {
  const offered = hello.preSharedKey
  if (offered === undefined || settings.tickets === undefined || !allowsResumption(hello)) return undefined
  const wanted = sessionOf({ ...agreement, serverName: hello.serverName }, settings, new Uint8Array())
  for (const [index, { identity }] of offered.identities.slice(0, PSK_IDENTITIES_MAX).entries()) {
    const session = await settings.tickets.open(identity)
    if (session === undefined) continue
    if (!isSameKind(session, wanted)) {
      session.psk.fill(0)
      continue
    }
    const earlySecret = new EarlySecret(hashOf(settings.crypto, session.hash), session.psk, secrets)
    // §4.2.11.2: the binder covers the ClientHello up to the list of binders.
    const truncatedHello = hello.message.subarray(0, hello.message.length - offered.bindersLength)
    if (!equalInConstantTime(offered.binders[index]!, earlySecret.binder(transcript.digest(truncatedHello))))
      throw violation('decrypt_error', 'a PSK binder does not verify')
    return { index, earlySecret }
  }
  return undefined
}

function isSameKind(a: Session, b: Session): boolean {
  return (
    a.hash === b.hash &&
    a.serverName === b.serverName &&
    a.alpn === b.alpn &&
    a.certificate.join() === b.certificate.join()
  )
}
