// `svc hash-password`: the hash of a password, for the options that take one.

import { storedPassword } from '@svc/sdk-core/access'
import { scrypt } from '../../scrypt.ts'
import { readSecret } from '../options/secret.ts'

/** Resolves with the hash of the password on standard input. */
export async function hashPassword(): Promise<string> {
  return await storedPassword(await readSecret('the password', '-'), scrypt)
}
