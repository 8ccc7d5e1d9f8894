// TLS 1.2 after the handshake: records, alerts, renegotiation, and the ends of a connection.

import { describe, expect, test } from 'vitest'
import type { ServerConfig } from '../../src/index.ts'
import { ALERT } from '../../src/messages/index.ts'
import { concat } from '../../src/messages/writer.ts'
import { makeIdentity } from '../support/certificates.ts'
import { hex } from '../support/hex.ts'
import { until } from '../support/raw-client.ts'
import { syncCrypto } from '../support/sync-crypto.ts'
import { RawClient12, TYPE } from '../support/tls12-raw-client.ts'

const tls12: ServerConfig = { ...makeIdentity('ec').tls12, alpn: [] }
const [WARNING, FATAL] = [1, 2]
const CLOSE_NOTIFY = hex('0100')

async function expectAlert(client: RawClient12, alert: number): Promise<void> {
  await client.over()
  expect([client.alerts.at(-1), client.error?.alert]).toEqual([[FATAL, alert], alert])
}

const SUITES: [string, number][] = [
  ['AES-128-GCM', 0xc02b],
  ['AES-256-GCM', 0xc02c],
  ['CHACHA20-POLY1305', 0xcca9],
]

describe.each([
  ['WebCrypto', tls12],
  ['a synchronous provider', { ...tls12, crypto: syncCrypto }],
])('on %s', (_, config) => {
  const connect = async (suite = 0xc02b) => {
    const client = new RawClient12(config)
    return client.connect(client.hello({ cipherSuites: [suite] }))
  }

  describe.each(SUITES)('§6.2.3.3 records under %s', (_, suite) => {
    test('both ways, in any sizes', async () => {
      const client = await connect(suite)
      expect(client.info!.cipherSuite).toBe(suite)
      const sizes = [1, 2 ** 14, 100]
      for (const size of sizes) client.send(TYPE.data, new Uint8Array(size).fill(size))
      await until(() => client.serverData.length === sizes.length)
      expect(client.serverData).toEqual(sizes.map((size) => new Uint8Array(size).fill(size)))
      await client.server.write(new Uint8Array(2 ** 15 + 5).fill(7))
      expect(client.received).toEqual(new Uint8Array(2 ** 15 + 5).fill(7))
      client.server.abort()
    })

    test.each<[string, (record: Uint8Array) => Uint8Array]>([
      ['the tag', (r) => r.with(-1, r.at(-1)! ^ 1)],
      ['the first byte of the fragment', (r) => r.with(5, r[5]! ^ 1)],
      ['the type', (r) => r.with(0, 22)],
      ['the length', (r) => concat(r.with(4, r[4]! - 1).subarray(0, -1))],
      ['everything', () => hex('1703030000')],
      ['all but a part of the tag', (r) => concat(hex('170303000f'), r.subarray(5, 20))],
    ])('with a change in %s', async (_, change) => {
      const client = await connect(suite)
      client.raw(change(client.record(TYPE.data, hex('00112233'))))
      await expectAlert(client, ALERT.bad_record_mac)
      expect(client.serverData).toEqual([])
    })

    test('replayed', async () => {
      const client = await connect(suite)
      const record = client.record(TYPE.data, hex('00'))
      client.raw(concat(record, record))
      await expectAlert(client, ALERT.bad_record_mac)
      expect(client.serverData).toHaveLength(1)
    })
  })

  test('§6.2.1 2^14 bytes, and one more', async () => {
    const client = await connect()
    client.send(TYPE.data, new Uint8Array(2 ** 14))
    await until(() => client.serverData.length === 1)
    client.send(TYPE.data, new Uint8Array(2 ** 14 + 1))
    await expectAlert(client, ALERT.record_overflow)
  })

  test('§6.2.1 32 empty records in a row, and one more', async () => {
    const client = await connect()
    const empty = () => client.send(TYPE.data, new Uint8Array())
    for (let i = 0; i < 32; i++) empty()
    client.send(TYPE.data, hex('00'))
    for (let i = 0; i < 32; i++) empty()
    await until(() => client.serverData.length === 1)
    empty()
    await expectAlert(client, ALERT.unexpected_message)
  })

  test('a plaintext alert, after the keys', async () => {
    const client = await connect()
    client.raw(hex('15030300020100'))
    await expectAlert(client, ALERT.bad_record_mac)
  })

  test('a change_cipher_spec, after the handshake', async () => {
    const client = await connect()
    client.send(TYPE.ccs, hex('01'))
    await expectAlert(client, ALERT.unexpected_message)
  })

  test('the key has protected all it may', async () => {
    const client = new RawClient12({ ...config, limits: { recordsPerKey: 4 } })
    await client.connect()
    // Its Finished was the first.
    await client.server.write(new Uint8Array(3 * 2 ** 14))
    expect(client.received).toHaveLength(3 * 2 ** 14)
    await client.server.write(hex('00'))
    await client.over()
    expect(client.error).toMatchObject({ code: 'key_used_up', alert: ALERT.internal_error })
  })

  describe('RFC 5246 §7.4.1.1 renegotiation', () => {
    test('is refused with no_renegotiation, and the connection goes on', async () => {
      const client = await connect()
      client.send(TYPE.handshake, client.hello())
      await until(() => client.alerts.length === 1)
      expect(client.alerts).toEqual([[WARNING, ALERT.no_renegotiation]])
      client.send(TYPE.data, hex('01'))
      await until(() => client.serverData.length === 1)
      client.server.abort()
    })

    test('§6.2.1 in fragments, with data between them', async () => {
      const client = await connect()
      const hello = client.hello()
      client.send(TYPE.handshake, hello.subarray(0, 7))
      client.send(TYPE.data, hex('01'))
      client.send(TYPE.handshake, hello.subarray(7))
      await until(() => client.alerts.length === 1)
      expect(client.serverData).toHaveLength(1)
      client.server.abort()
    })

    test('four times, and once more', async () => {
      const client = await connect()
      for (let i = 0; i < 4; i++) client.send(TYPE.handshake, client.hello())
      client.send(TYPE.data, hex('01'))
      await until(() => client.serverData.length === 1)
      client.send(TYPE.handshake, client.hello())
      await expectAlert(client, ALERT.unexpected_message)
      expect(client.alerts).toHaveLength(5)
    })

    test.each<[string, string, number]>([
      ['a Finished', '1400000c', ALERT.unexpected_message],
      ['a KeyUpdate', '1800000100', ALERT.unexpected_message],
      ['nothing', '', ALERT.unexpected_message],
      ['a ClientHello over 64 KiB', '01010001', ALERT.illegal_parameter],
    ])('%s instead', async (_, message, alert) => {
      const client = await connect()
      client.send(TYPE.handshake, hex(message))
      await expectAlert(client, alert)
    })
  })

  describe('§7.2 alerts', () => {
    test("§7.2.1 the client's close_notify is answered at once, and nothing more is written", async () => {
      const client = await connect()
      client.send(TYPE.data, hex('01'))
      client.send(TYPE.alert, CLOSE_NOTIFY)
      await client.over()
      expect([client.ended, client.alerts, client.error]).toEqual([true, [[WARNING, 0]], undefined])
      expect(() => client.server.write(hex('02'))).toThrow(expect.objectContaining({ code: 'closed' }))
    })

    test('ours first, then theirs', async () => {
      const client = await connect()
      await client.server.end()
      expect(client.alerts).toEqual([[WARNING, 0]])
      client.send(TYPE.alert, CLOSE_NOTIFY)
      await client.over()
      expect(client.error).toBeUndefined()
      expect(client.alerts).toHaveLength(1)
    })

    test('the end of the transport without one', async () => {
      const client = await connect()
      client.server.receiveEnd()
      await client.over()
      expect(client.error).toMatchObject({ code: 'truncated' })
    })

    test('a warning does not close, unless there are too many', async () => {
      const client = await connect()
      for (let i = 0; i < 4; i++) client.send(TYPE.alert, hex('0164'))
      client.send(TYPE.data, hex('01'))
      await until(() => client.serverData.length === 1)
      client.send(TYPE.alert, hex('0164'))
      await expectAlert(client, ALERT.unexpected_message)
    })

    test('a fatal one, whatever it is', async () => {
      const client = await connect()
      client.send(TYPE.alert, hex('025a'))
      await client.over()
      expect(client.error).toMatchObject({ code: 'alert_received', alert: 90 })
      expect(client.alerts).toEqual([])
    })

    test('an invalid level', async () => {
      const client = await connect()
      client.send(TYPE.alert, hex('0350'))
      await expectAlert(client, ALERT.illegal_parameter)
    })
  })
})
