// Describes the development CA of a relay on localhost: whether there is one, its name and fingerprint.
import { AUTHORITY_FILE } from '../authority-files.ts'

/** Whether the hostname means this machine, or one of this network (RFC 6761 §6.3, RFC 6762 §3): the relay may have a development CA. */
export const hasDevelopmentCa: boolean = /^(?:.+\.)?localhost$|\.local$/.test(location.hostname)

/** @returns the name of the CA in lists of certificates */
export function authorityName(host: string): string {
  return `svc development CA for ${host}`
}

/** @returns SHA-256 of the certificate as OpenSSL prints it. @throws Error when it cannot be loaded */
export async function loadFingerprint(): Promise<string> {
  const response = await fetch(AUTHORITY_FILE.der)
  if (!response.ok) throw new Error(`the relay answers ${response.status}`)
  const digest = await crypto.subtle.digest('SHA-256', await response.arrayBuffer())
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(
    ':',
  )
}
