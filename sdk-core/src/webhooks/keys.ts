// The keys of signatures, by Web Crypto: HMAC (RFC 2104) and Ed25519 (RFC 8032).

import { hexOf } from '../bytes/hex.ts'
import { constantTimeEqual } from '../handlers/constant-time-equal.ts'

/** A Key is what a secret means to its sender. */
export type Key =
  | { readonly kind: 'hmac'; readonly hash: Hash; readonly bytes: Uint8Array<ArrayBuffer> }
  /** A public key. */
  | { readonly kind: 'ed25519'; readonly bytes: Uint8Array<ArrayBuffer> }

export type Hash = 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512'

/** This platform has no Ed25519. */
export class Unsupported extends Error {}

/** Resolves with whether one of the signatures is that of the content. The comparison takes constant time. */
export async function fits(
  key: Key,
  content: Uint8Array<ArrayBuffer>,
  signatures: readonly Uint8Array<ArrayBuffer>[],
): Promise<boolean> {
  if (key.kind === 'hmac') {
    const right = hexOf(await authenticationCode(key, content))
    const found = await Promise.all(signatures.map((given) => constantTimeEqual(hexOf(given), right)))
    return found.includes(true)
  }
  const imported = await publicKey(key.bytes)
  for (const given of signatures)
    if (await crypto.subtle.verify('Ed25519', imported, given, content)) return true
  return false
}

/** Resolves with the HMAC of the content. */
export async function authenticationCode(
  { hash, bytes }: Extract<Key, { kind: 'hmac' }>,
  content: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, content))
}

/** @throws Unsupported */
async function publicKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  try {
    return await crypto.subtle.importKey('raw', bytes, 'Ed25519', false, ['verify'])
  } catch (cause) {
    throw new Unsupported('this platform has no Ed25519', { cause })
  }
}
