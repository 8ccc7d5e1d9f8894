// The hash of an access token in an ID token (OpenID Connect Core §3.1.3.6), which openid-client leaves to its user.

import { fromBase64 } from '../../bytes/base64.ts'
import { base64url } from '../../bytes/base64url.ts'

/** Resolves with whether the ID token, if it has the hash, is for this access token. */
export async function matchesAccessToken(
  hash: unknown,
  idToken: string,
  accessToken: string,
): Promise<boolean> {
  if (hash === undefined) return true
  const [head = ''] = idToken.split('.', 1)
  const json = new TextDecoder().decode(fromBase64(head.replaceAll('-', '+').replaceAll('_', '/')))
  const { alg } = JSON.parse(json) as { alg: string }
  const bits = /^(?:RS|PS|ES)(256|384|512)$/.exec(alg)?.[1] ?? '512' // Ed25519 signs a SHA-512.
  const digest = await crypto.subtle.digest(`SHA-${bits}`, new TextEncoder().encode(accessToken))
  return base64url(new Uint8Array(digest, 0, digest.byteLength / 2)) === hash
}
