// Bytes that TLS has encrypted when `write` returns may be overwritten; those that wait may not.

import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { encryptsAtOnce } from '../../src/core/node-internals/encrypts-at-once.ts'
import { tcp, tls } from '../support/bridges.ts'

test('a TLS socket with nothing that waits', async () => {
  const { near, far } = await tls()
  expect(encryptsAtOnce(near)).toBe(true)
  const bytes = Buffer.from('as it was written')
  near.write(bytes)
  bytes.fill('x')
  near.end()
  expect(await text(far)).toBe('as it was written')
})

test('neither a TLS socket whose earlier write waits, nor TCP', async () => {
  const [secure, plain] = await Promise.all([tls(), tcp()])
  secure.near.cork()
  expect(encryptsAtOnce(secure.near)).toBe(false)
  secure.near.uncork()
  secure.near.write('first')
  expect(encryptsAtOnce(secure.near)).toBe(false)
  expect(encryptsAtOnce(plain.near)).toBe(false)
  for (const { near, far } of [secure, plain]) for (const socket of [near, far]) socket.destroy()
})
