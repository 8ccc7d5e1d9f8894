// Hints for the owner of a target whose TLS fails: the meaning of OpenSSL's code, and the option that helps.

import { connect } from 'node:tls'
import { TARGET_CONNECT_DEADLINE_MS } from '../net/deadlines.ts'
import { localhostLookup } from '../net/localhost-lookup.ts'
import type { TcpTarget } from './target-address.ts'

const UNTRUSTED =
  'its certificate is not trusted here: give the PEM of its authority (--target-ca FILE, targetCa)'
const NO_TLS = 'it speaks no TLS: write http:// in place of https://'

const HINTS: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for another name: give that (--target-server-name NAME, targetServerName)',
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: 'it does not speak HTTP/2, which gRPC needs',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
}
const NOBODY: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'EACCES'])

/** Returns the hint for the error of a connection, or undefined when its code is enough. */
export function tlsHint(cause: unknown): string | undefined {
  return HINTS[codeOf(cause)]
}

/** Resolves with the hint that an `http:` target speaks TLS, if it does: many such servers close silently. */
export async function plainHint({ host, port }: TcpTarget): Promise<string | undefined> {
  const isTls = await new Promise<boolean>((resolve) => {
    // Nothing is sent, so the certificate need not be trusted.
    const socket = connect({
      host,
      port,
      lookup: localhostLookup,
      rejectUnauthorized: false,
      timeout: TARGET_CONNECT_DEADLINE_MS,
    })
    socket.once('secureConnect', () => {
      resolve(true)
      socket.destroy()
    })
    socket.once('error', () => resolve(false))
    socket.once('timeout', () => socket.destroy())
    socket.once('close', () => resolve(false))
  })
  return isTls ? 'it speaks TLS: write https:// in front of it' : undefined
}

/** Returns whether nothing listens there. */
export function isNobody(cause: unknown): boolean {
  return NOBODY.has(codeOf(cause))
}

function codeOf(cause: unknown): string {
  return String((cause as NodeJS.ErrnoException | undefined)?.code)
}
