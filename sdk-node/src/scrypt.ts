// scrypt for the passwords of `access`: several times as fast as in JavaScript, and in another thread.

import { scrypt as run } from 'node:crypto'
import { promisify } from 'node:util'
import { type DeriveKey, SCRYPT } from '@svc/sdk-core/access'

/** Twice what this cost needs, in bytes. */
const MAX_MEMORY_BYTES: number = 32 * 1024 * 1024

const derive = promisify<Uint8Array, Uint8Array, number, object, Uint8Array>(run)

export const scrypt: DeriveKey = (password, salt) => {
  const { dkLen, ...cost } = SCRYPT
  return derive(password, salt, dkLen, { ...cost, maxmem: MAX_MEMORY_BYTES })
}
