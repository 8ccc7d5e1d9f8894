// §4.4.4, §5, §4.2.10 and RFC 8449: the rest of the handshake, from a client that does what it should not.

import { describe, expect, test } from 'vitest'
import { EARLY_DATA_SKIP_MAX_BYTES } from '../../src/limits.ts'
import { ALERT } from '../../src/messages/index.ts'
import { concat } from '../../src/messages/writer.ts'
import { ext, records } from '../support/client-hello-builder.ts'
import { hex } from '../support/hex.ts'
import { expectAlert, PROVIDERS } from '../support/providers.ts'
import { RawClient, TYPE, until } from '../support/raw-client.ts'

const CCS = hex('140303000101')

const CLOSE_NOTIFY = hex('0100')

describe.each(PROVIDERS)('on %s', (_, config) => {
  const connect = (hello?: Uint8Array) => new RawClient(config).connect(hello)

  describe('§4.4.4 Finished', () => {
    test.each<[string, (good: Uint8Array) => Uint8Array, number]>([
      ['a wrong one', (good) => good.with(-1, good.at(-1)! ^ 1), ALERT.decrypt_error],
      ['a short one', () => concat(hex('1400001f'), new Uint8Array(31)), ALERT.decode_error],
      ['a long one', () => concat(hex('14000021'), new Uint8Array(33)), ALERT.decode_error],
      ['an empty one', () => hex('14000000'), ALERT.decode_error],
      ['something behind it', (good) => concat(good, hex('18')), ALERT.unexpected_message],
    ])('%s', async (_, change, alert) => {
      const client = await RawClient.greet(config)
      client.send(TYPE.handshake, change(client.finished()))
      await expectAlert(client, alert)
    })

    test.each<[string, string]>([
      ['a client certificate, which nobody asked for', '0b00000400000000'],
      ['EndOfEarlyData', '05000000'],
      ['a second ClientHello', '01000000'],
    ])('instead of it: %s', async (_, message) => {
      const client = await RawClient.greet(config)
      client.send(TYPE.handshake, hex(message))
      await expectAlert(client, ALERT.unexpected_message)
    })

    test('instead of it: application data', async () => {
      const client = await RawClient.greet(config)
      client.send(TYPE.data, hex('00'))
      await expectAlert(client, ALERT.unexpected_message)
    })

    test('in single bytes of content', async () => {
      const client = await RawClient.greet(config)
      const finished = client.finished()
      for (const byte of finished.subarray(0, -1)) client.send(TYPE.handshake, Uint8Array.of(byte))
      client.sendFinished(finished.subarray(-1))
      await until(() => client.info !== undefined)
    })

    test('with the request and the close in one piece', async () => {
      const client = await RawClient.greet(config)
      const pieces: Uint8Array[] = []
      client.raw = (bytes) => void pieces.push(bytes)
      client.sendFinished()
      client.send(TYPE.data, hex('010203'))
      client.send(TYPE.alert, CLOSE_NOTIFY)
      void client.server.receive(concat(...pieces))
      client.server.receiveEnd()
      await until(() => client.ended)
      expect(concat(...client.serverData)).toEqual(hex('010203'))
      await client.server.end()
      await client.over()
      expect(client.error).toBeUndefined()
    })
  })

  describe('§5 change_cipher_spec', () => {
    test('32 of them are dropped, one more is not', async () => {
      const client = await RawClient.greet(config)
      for (let i = 0; i < 32; i++) client.raw(CCS)
      expect(client.closed).toBe(false)
      client.raw(CCS)
      await expectAlert(client, ALERT.unexpected_message)
    })

    test.each([
      ['two bytes', '14030300020101'],
      ['another byte', '140303000102'],
      ['empty', '1403030000'],
    ])('%s', async (_, bytes) => {
      const client = new RawClient(config)
      client.sendHello()
      client.raw(hex(bytes))
      await client.over()
      expect(client.alerts.at(-1)).toBe(ALERT.unexpected_message)
    })

    test('after the Finished', async () => {
      const client = await connect()
      client.raw(CCS)
      await expectAlert(client, ALERT.unexpected_message)
    })

    test('protected', async () => {
      const client = await RawClient.greet(config)
      client.send(TYPE.ccs, hex('01'))
      await expectAlert(client, ALERT.unexpected_message)
    })
  })

  describe('§4.2.10 early data, refused', () => {
    const earlyHello = (client: RawClient) => client.helloWith(ext.earlyData())
    const early = (bytes: number) =>
      concat(Uint8Array.of(23, 3, 3, bytes >> 8, bytes & 255), new Uint8Array(bytes).fill(9))

    test('is skipped', async () => {
      const client = new RawClient(config)
      client.sendHello(earlyHello(client))
      for (let i = 0; i < 3; i++) client.raw(early(16_000))
      await client.flight()
      client.sendFinished()
      client.send(TYPE.data, hex('01'))
      await until(() => client.serverData.length === 1)
    })

    test('is skipped up to a budget', async () => {
      const client = new RawClient(config)
      client.sendHello(earlyHello(client))
      await client.flight()
      for (let i = 0; i < 6 && !client.closed; i++) client.raw(early(16_000))
      await expectAlert(client, ALERT.bad_record_mac)
    })

    test('is skipped before the second ClientHello too', async () => {
      const client = new RawClient(config)
      const groups = ext.supportedGroups(0x001e, 0x0017)
      const x448 = ext.keyShare([0x001e, new Uint8Array(56)])
      client.sendHello(client.helloWith(groups, x448, ext.earlyData()))
      client.raw(early(1000))
      await until(() => client.messages.length > 0)
      client.raw(early(1000))
      client.sendHello(client.helloWith(groups, ext.keyShare(client.p256Share)))
      await client.flight()
      client.sendFinished()
      await until(() => client.info !== undefined)
    })

    test.each([1, 16])('a record of %i bytes, too short for a tag, counts like any other', async (bytes) => {
      const client = new RawClient(config)
      client.sendHello(earlyHello(client))
      client.raw(early(bytes))
      client.raw(early(1000))
      await client.flight()
      client.sendFinished()
      await until(() => client.info !== undefined)
      const flooder = new RawClient(config)
      flooder.sendHello(earlyHello(flooder))
      await flooder.flight()
      const records = Math.ceil(EARLY_DATA_SKIP_MAX_BYTES / bytes) + 1
      flooder.raw(concat(...Array.from({ length: records }, () => early(bytes))))
      await expectAlert(flooder, ALERT.bad_record_mac)
    })

    test('nothing is skipped behind the second ClientHello', async () => {
      const client = new RawClient(config)
      const groups = ext.supportedGroups(0x001e, 0x0017)
      const x448 = ext.keyShare([0x001e, new Uint8Array(56)])
      client.sendHello(client.helloWith(groups, x448, ext.earlyData()))
      await until(() => client.messages.length > 0)
      client.sendHello(client.helloWith(groups, ext.keyShare(client.p256Share)))
      await client.flight()
      client.raw(early(100))
      await expectAlert(client, ALERT.bad_record_mac)
    })

    test('without the extension nothing is skipped', async () => {
      const client = await RawClient.greet(config)
      client.raw(early(100))
      await expectAlert(client, ALERT.bad_record_mac)
    })
  })

  describe('§5.1 bytes of a handshake message behind a ClientHello that ends a flight', () => {
    test('of the only one', async () => {
      const client = new RawClient(config)
      client.deaf = true
      client.raw(records(TYPE.handshake, concat(client.hello(), hex('14'))))
      await client.over()
      expect(client.error).toMatchObject({ alert: ALERT.unexpected_message })
    })

    test('of the first of two: no HelloRetryRequest is sent', async () => {
      const client = new RawClient(config)
      const hello = client.helloWith(
        ext.supportedGroups(0x001e, 0x0017),
        ext.keyShare([0x001e, new Uint8Array(56)]),
      )
      client.raw(records(TYPE.handshake, concat(hello, hex('01'))))
      await expectAlert(client, ALERT.unexpected_message)
      expect(client.messages).toEqual([])
    })

    test('of the second: no ServerHello is sent', async () => {
      const client = new RawClient(config)
      const groups = ext.supportedGroups(0x001e, 0x0017)
      client.sendHello(client.helloWith(groups, ext.keyShare([0x001e, new Uint8Array(56)])))
      await until(() => client.messages.length === 1)
      const second = client.helloWith(groups, ext.keyShare(client.p256Share))
      client.raw(records(TYPE.handshake, concat(second, hex('14'))))
      await expectAlert(client, ALERT.unexpected_message)
      expect(client.messages).toHaveLength(1)
    })
  })

  describe('RFC 8449 record_size_limit', () => {
    test('our records stay below it', async () => {
      const client = new RawClient(config)
      await client.connect(client.helloWith(ext.recordSizeLimit(64)))
      await client.server.write(new Uint8Array(1000))
      expect(client.received).toHaveLength(1000)
      expect(Math.max(...client.recordSizes)).toBe(64)
    })

    test('without it records are full', async () => {
      const client = await connect()
      await client.server.write(new Uint8Array(2 ** 15))
      expect(client.recordSizes.slice(-2)).toEqual([2 ** 14 + 1, 2 ** 14 + 1])
    })
  })
})
