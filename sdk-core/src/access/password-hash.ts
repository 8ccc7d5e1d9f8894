// Stored passwords: `scrypt:SALT:HASH`, both in base64url (RFC 7914).

import { fromBase64 } from '../bytes/base64.ts'
import { base64url } from '../bytes/base64url.ts'

/** A DeriveKey runs scrypt with {@link SCRYPT}. Only Node has it. */
export type DeriveKey = (password: Uint8Array, salt: Uint8Array) => Promise<Uint8Array>

/** The cost: 16 MiB, five times, as OWASP recommends for so little memory. */
export const SCRYPT: Readonly<Record<'N' | 'r' | 'p' | 'dkLen', number>> = {
  N: 2 ** 14,
  r: 8,
  p: 5,
  dkLen: 32,
}

const SALT_BYTES = 16
const STORED = /^scrypt:([\w-]{22}):([\w-]{43})$/
const encoder = new TextEncoder()

/** A StoredPassword is a password that the options have as a hash. */
export interface StoredPassword {
  readonly salt: Uint8Array
  /** In base64url. */
  readonly hash: string
}

/** Returns the parts of a stored password, or undefined for text that is not a stored password. */
export function parseStored(text: string): StoredPassword | undefined {
  const [, salt = '', hash] = STORED.exec(text) ?? []
  const bytes = fromBase64(salt.replaceAll('-', '+').replaceAll('_', '/').padEnd(24, '='))
  return hash === undefined || bytes === undefined ? undefined : { salt: bytes, hash }
}

/** Resolves with the hash of a password, in base64url. Passwords that look alike are the same (RFC 8265 §4). */
export async function hashOf(password: string, salt: Uint8Array, derive: DeriveKey): Promise<string> {
  return base64url(await derive(encoder.encode(password.normalize('NFC')), salt))
}

/** Resolves with the text to store in place of a password. */
export async function storedPassword(password: string, derive: DeriveKey): Promise<string> {
  const salt = randomSalt()
  return `scrypt:${base64url(salt)}:${await hashOf(password, salt, derive)}`
}

export function randomSalt(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(SALT_BYTES))
}
