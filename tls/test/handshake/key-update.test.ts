// §4.6.3 and §5.5: KeyUpdate from either side, and the other messages after a handshake.

import { describe, expect, test } from 'vitest'
import { ALERT } from '../../src/messages/index.ts'
import { concat } from '../../src/messages/writer.ts'
import { hex } from '../support/hex.ts'
import { expectAlert, PROVIDERS } from '../support/providers.ts'
import { RawClient, TYPE, until } from '../support/raw-client.ts'

describe.each(PROVIDERS)('on %s', (_, config) => {
  const connect = (hello?: Uint8Array) => new RawClient(config).connect(hello)

  describe('§4.6.3 KeyUpdate', () => {
    test('of the client, with data before and after in one piece', async () => {
      const client = await connect()
      const pieces: Uint8Array[] = []
      const send = client.raw.bind(client)
      client.raw = (bytes) => void pieces.push(bytes)
      for (let i = 0; i < 20; i++) {
        client.send(TYPE.data, Uint8Array.of(2 * i))
        client.sendKeyUpdate()
        client.send(TYPE.data, Uint8Array.of(2 * i + 1))
      }
      send(concat(...pieces))
      await until(() => client.serverData.length === 40)
      expect(concat(...client.serverData)).toEqual(Uint8Array.from({ length: 40 }, (_, i) => i))
      expect(client.messages).not.toContain(24)
    })

    test('several requests at once get one answer, before the next data', async () => {
      const client = await connect()
      const pieces: Uint8Array[] = []
      const send = client.raw.bind(client)
      client.raw = (bytes) => void pieces.push(bytes)
      client.sendKeyUpdate(1)
      send(concat(...pieces))
      await until(() => client.messages.includes(24))
      await client.server.write(hex('0102'))
      expect(client.received).toEqual(hex('0102'))
      expect(client.messages.filter((type) => type === 24)).toHaveLength(1)
    })

    test('32 in a row, and one more', async () => {
      const client = await connect()
      for (let i = 0; i < 32; i++) client.sendKeyUpdate()
      client.send(TYPE.data, hex('00'))
      for (let i = 0; i < 32; i++) client.sendKeyUpdate()
      await until(() => client.serverData.length === 1)
      client.sendKeyUpdate()
      await expectAlert(client, ALERT.unexpected_message)
    })

    test.each<[string, string, number]>([
      ['an unknown request', '1800000102', ALERT.illegal_parameter],
      ['empty', '18000000', ALERT.decode_error],
      ['two bytes', '180000020000', ALERT.illegal_parameter],
      ['two in one record', '18000001001800000100', ALERT.unexpected_message],
      ['§4.6.1 a NewSessionTicket from a client', '04000000', ALERT.unexpected_message],
      ['a Finished again', '14000000', ALERT.unexpected_message],
      ['§4.1.2 renegotiation', '01000000', ALERT.unexpected_message],
    ])('%s', async (_, message, alert) => {
      const client = await connect()
      client.send(TYPE.handshake, hex(message))
      await expectAlert(client, alert)
    })

    test('§5.1 data in the middle of it', async () => {
      const client = await connect()
      client.send(TYPE.handshake, hex('1800'))
      client.send(TYPE.data, hex('00'))
      await expectAlert(client, ALERT.unexpected_message)
    })

    test('§5.5 our own, in the middle of a long write', async () => {
      const client = await new RawClient({ ...config, limits: { recordsPerKey: 3 } }).connect()
      const bytes = new Uint8Array(10 * 2 ** 14).fill(7)
      await client.server.write(bytes)
      expect(client.received).toEqual(bytes)
      expect(client.messages.filter((type) => type === 24).length).toBeGreaterThanOrEqual(3)
    })
  })
})
