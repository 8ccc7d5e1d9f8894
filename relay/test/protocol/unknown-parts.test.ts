// A relay takes what it does not know for what a newer client sends, and goes on as if it were not there.

import { once } from 'node:events'
import { encodeCapability } from '@svc/protocol'
import { describe, expect, test } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { LINKS, openCarrier } from '../support/carrier.ts'
import { newAccount, startTestRelay } from '../support/relay.ts'

const NEW = { unknown_extension: { of: ['a', 'newer', 'client'] } }

const relay = useStarted(startTestRelay)

/** A frame of yamux without a payload, its fields by hand. */
function frame(type: number, flags: number, stream: number, length: number): Buffer {
  const header = Buffer.alloc(12)
  header.writeUInt8(type, 1)
  header.writeUInt16BE(flags, 2)
  header.writeUInt32BE(stream, 4)
  header.writeUInt32BE(length, 8)
  return header
}

describe('a relay ignores (protocol §1.1.4)', () => {
  test('unknown fields of JSON, and with them unknown extensions', async () => {
    const account = newAccount()
    const identity = { name: 'fields', address: account.address, ...NEW }
    const asked = await relay.call('POST', '/sdk/register/challenge', { identity, ...NEW })
    expect(asked.status).toBe(201)
    const { challenge_id, siwe_message } = asked.json.data as Record<string, string>
    const siwe_signature = await account.signMessage({ message: siwe_message! })
    const proof = { challenge_id, siwe_message, siwe_signature, ...NEW }
    const registered = await relay.call('POST', '/sdk/register', proof)
    expect(registered.status).toBe(201)
    const { access_token } = registered.json.data as Record<string, string>
    for (const path of ['/sdk/renew', '/sdk/unregister'])
      expect((await relay.call('POST', path, { access_token, ...NEW })).status, path).toBe(200)
  })

  test.each(LINKS)('unknown flags of yamux, from %s', async (kind, connect) => {
    const lease = await relay.register(kind === 'a browser' ? 'flags-browser' : 'flags-native')
    const { capability } = lease.reverse_endpoint
    const link = await connect(relay, capability)
    const received: Buffer[] = []
    link.receive((bytes) => received.push(bytes))
    const presented = Buffer.from(encodeCapability(capability))
    await link.send(frame(2, 0xfff0 | 1, 0, 0x01020304))
    await link.send(frame(1, 0x8000 | 1, 1, 0))
    await link.send(Buffer.concat([frame(0, 0x4000, 1, presented.length), presented]))
    const has = (bytes: Buffer): boolean => Buffer.concat(received).includes(bytes)
    await expect.poll(() => has(frame(2, 2, 0, 0x01020304))).toBe(true)
    // One byte says that the session is ready.
    await expect.poll(() => has(Buffer.concat([frame(0, 0, 1, 1), Buffer.of(0)]))).toBe(true)
    expect(link.isOpen).toBe(true)
    link.terminate()
  })

  test('an unknown close code: the lease stays, and the next carrier is taken', async () => {
    const { access_token, reverse_endpoint } = await relay.register('code')
    const first = await openCarrier(relay, reverse_endpoint.capability)
    first.socket.close(4998)
    await once(first.socket, 'close')
    expect((await relay.call('POST', '/sdk/renew', { access_token })).status).toBe(200)
    const second = await openCarrier(relay, reverse_endpoint.capability)
    const { read } = await second.open(reverse_endpoint.capability)
    expect(await read(1)).toEqual(Buffer.of(0))
    second.socket.terminate()
  })
})
