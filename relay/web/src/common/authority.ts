// The certificate authority that a relay on localhost has: whether there is one, its name and its fingerprint.
import { AUTHORITY_FILE } from '../authority-files.ts'

/** Names that lead to the machine itself (RFC 6761 §6.3): nobody else vouches for them. */
export const hasDevelopmentCa: boolean = /^(?:.+\.)?localhost$/.test(location.hostname)

/** As lists of certificates show it. */
export const authorityName: string = `svc development CA for ${location.hostname}`

/** @returns SHA-256 of the certificate as OpenSSL writes it; @throws Error when it cannot be had */
export async function loadFingerprint(): Promise<string> {
  const response = await fetch(AUTHORITY_FILE.der)
  if (!response.ok) throw new Error(`the relay answers ${response.status}`)
  const digest = await crypto.subtle.digest('SHA-256', await response.arrayBuffer())
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(
    ':',
  )
}
