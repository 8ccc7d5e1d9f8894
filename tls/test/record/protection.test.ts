// §5: protected records of a client that has its keys and does what it should not.

import { describe, expect, test } from 'vitest'
import { ALERT } from '../../src/messages/index.ts'
import { concat } from '../../src/messages/writer.ts'
import { hex } from '../support/hex.ts'
import { expectAlert, PROVIDERS } from '../support/providers.ts'
import { RawClient, TYPE, until } from '../support/raw-client.ts'

describe.each(PROVIDERS)('on %s', (_, config) => {
  const connect = (hello?: Uint8Array) => new RawClient(config).connect(hello)

  describe('§5.2 protected records', () => {
    test('a changed one', async () => {
      const client = await connect()
      const record = client.record(TYPE.data, hex('00112233'))
      client.raw(record.with(-1, record.at(-1)! ^ 1))
      await expectAlert(client, ALERT.bad_record_mac)
    })

    test('one replayed', async () => {
      const client = await connect()
      const record = client.record(TYPE.data, hex('00'))
      client.raw(concat(record, record))
      await expectAlert(client, ALERT.bad_record_mac)
      expect(client.serverData).toHaveLength(1)
    })

    test.each([0, 1, 16])('one of %i bytes', async (length) => {
      const client = await connect()
      client.raw(concat(Uint8Array.of(23, 3, 3, 0, length), new Uint8Array(length)))
      await expectAlert(client, ALERT.bad_record_mac)
    })

    test('plaintext', async () => {
      const client = await connect()
      client.raw(hex('15030300020100'))
      await expectAlert(client, ALERT.unexpected_message)
    })

    test('what came before a bad one is delivered', async () => {
      const client = await connect()
      const good = Array.from({ length: 20 }, (_, i) => client.record(TYPE.data, Uint8Array.of(i)))
      client.raw(concat(...good, hex('ff')))
      await expectAlert(client, ALERT.unexpected_message)
      expect(concat(...client.serverData)).toHaveLength(20)
    })

    test('2^14 bytes of content, and one more', async () => {
      const client = await connect()
      client.send(TYPE.data, new Uint8Array(2 ** 14))
      await until(() => client.serverData.length === 1)
      client.send(TYPE.data, new Uint8Array(2 ** 14 + 1))
      await expectAlert(client, ALERT.record_overflow)
    })

    test('§5.4 padding up to the limit, and past it', async () => {
      const client = await connect()
      client.send(TYPE.data, hex('aa'), 2 ** 14 - 1)
      await until(() => client.serverData.length === 1)
      expect(client.serverData[0]).toEqual(hex('aa'))
      client.send(TYPE.data, hex('aa'), 2 ** 14)
      await expectAlert(client, ALERT.record_overflow)
    })

    test('§5.4 nothing but padding', async () => {
      const client = await connect()
      client.send(0, new Uint8Array(), 10)
      await expectAlert(client, ALERT.unexpected_message)
    })

    test.each([0x18, 0x19, 0xff])('an unknown content type %i', async (type) => {
      const client = await connect()
      client.send(type, hex('00'))
      await expectAlert(client, ALERT.unexpected_message)
    })

    test('32 empty records in a row, and one more', async () => {
      const client = await connect()
      const empty = () => client.record(TYPE.data, new Uint8Array())
      for (let i = 0; i < 32; i++) client.raw(empty())
      client.send(TYPE.data, hex('00'))
      for (let i = 0; i < 32; i++) client.raw(empty())
      await until(() => client.serverData.length === 1)
      client.raw(empty())
      await expectAlert(client, ALERT.unexpected_message)
    })
  })
})
