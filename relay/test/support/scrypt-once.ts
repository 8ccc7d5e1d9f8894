// Keeps what scrypt has derived, for the machines that a test starts in its process derive one key from one secret: each would
// take a fifth of a second of the processor. Every result is the real one.

import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { afterAll } from 'vitest'

const { scryptSync } = crypto
const derived = new Map<string, Buffer>()

crypto.scryptSync = (...parameters) => {
  const name = JSON.stringify(parameters)
  const key = derived.get(name) ?? scryptSync(...parameters)
  derived.set(name, key)
  return Buffer.from(key)
}
syncBuiltinESMExports()
afterAll(() => {
  crypto.scryptSync = scryptSync
  syncBuiltinESMExports()
})
