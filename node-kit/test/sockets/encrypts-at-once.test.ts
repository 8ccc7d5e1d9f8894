// Bytes that TLS has encrypted when `write` returns may be overwritten; those that wait may not.

import { once } from 'node:events'
import { type AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { encryptsAtOnce } from '../../src/sockets/encrypts-at-once.ts'

async function connected(): Promise<{ near: TLSSocket; far: TLSSocket }> {
  const server = createServer({ cert: CERTIFICATE_PEM, key: PRIVATE_KEY_PEM })
  const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const near = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  const [far] = await accepted
  onTestFinished(() => {
    near.destroy()
    far.destroy()
    server.close()
  })
  return { near, far }
}

it('of a socket with nothing that waits, also when it is a message of yamux', async () => {
  const { near, far } = await connected()
  const received = text(far)
  expect(encryptsAtOnce(near)).toBe(true)
  const bytes = Buffer.alloc(64 * 1024, 'a')
  near.write(bytes)
  bytes.fill('x')
  near.end()
  expect(await received).toBe('a'.repeat(64 * 1024))
})

it('not of one whose earlier write waits', async () => {
  const { near } = await connected()
  near.cork()
  expect(encryptsAtOnce(near)).toBe(false)
  near.uncork()
  near.write('first')
  expect(encryptsAtOnce(near)).toBe(false)
})

it('not of TCP', () => {
  expect(encryptsAtOnce(new Socket())).toBe(false)
})
