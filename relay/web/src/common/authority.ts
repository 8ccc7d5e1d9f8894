// The certificate authority that a relay on localhost has: whether there is one, its name and its files.

/** Names that lead to the machine itself (RFC 6761 §6.3): nobody else vouches for them. */
export const hasOwnAuthority: boolean = /^(?:.+\.)?localhost$/.test(location.hostname)

/** By format. */
export const AUTHORITY_FILE = {
  pem: '/ca.pem',
  der: '/ca.der',
  p12: '/ca.p12',
  mobileconfig: '/ca.mobileconfig',
} as const

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
