// §6: alerts and the ends of a connection, and what its user may do when.

import { describe, expect, test } from 'vitest'
import type { ServerConfig } from '../src/index.ts'
import { ALERT } from '../src/messages/index.ts'
import { hex } from './support/hex.ts'
import { expectAlert, PROVIDERS } from './support/providers.ts'
import { RawClient, TYPE, until } from './support/raw-client.ts'

const CLOSE_NOTIFY = hex('0100')

describe.each(PROVIDERS)('on %s', (_, config) => {
  const connect = (hello?: Uint8Array) => new RawClient(config).connect(hello)

  describe('§6 alerts', () => {
    test('close_notify of both sides, the client first', async () => {
      const client = await connect()
      client.send(TYPE.data, hex('01'))
      client.send(TYPE.alert, CLOSE_NOTIFY)
      await until(() => client.ended)
      // §6.1: ignored.
      client.raw(hex('ffffff'))
      client.server.receiveEnd()
      await client.server.write(hex('02'))
      expect(client.closed).toBe(false)
      await client.server.end()
      await client.over()
      expect([client.received, client.alerts, client.error]).toEqual([hex('02'), [0], undefined])
    })

    test('close_notify of both sides, ours first', async () => {
      const client = await connect()
      await client.server.end()
      expect(client.alerts).toEqual([0])
      client.send(TYPE.data, hex('01'))
      client.send(TYPE.alert, CLOSE_NOTIFY)
      await client.over()
      expect([client.serverData, client.error]).toEqual([[hex('01')], undefined])
    })

    test('the end of the transport without one', async () => {
      const client = await connect()
      client.send(TYPE.data, hex('01'))
      client.server.receiveEnd()
      await client.over()
      expect(client.serverData).toHaveLength(1)
      expect(client.error).toMatchObject({ code: 'truncated' })
      expect(client.alerts).toEqual([])
    })

    test('a fatal one', async () => {
      const client = await connect()
      client.send(TYPE.alert, hex('0250'))
      await client.over()
      expect(client.error).toMatchObject({ code: 'alert_received', alert: 80 })
      expect(client.alerts).toEqual([])
    })

    test('an unknown one is an error, also as a warning', async () => {
      const client = await connect()
      client.send(TYPE.alert, hex('01f0'))
      await client.over()
      expect(client.error).toMatchObject({ code: 'alert_received', alert: 0xf0 })
    })

    test('user_canceled does not close, unless there are too many', async () => {
      const client = await connect()
      for (let i = 0; i < 4; i++) client.send(TYPE.alert, hex('015a'))
      client.send(TYPE.data, hex('01'))
      await until(() => client.serverData.length === 1)
      client.send(TYPE.alert, hex('015a'))
      await expectAlert(client, ALERT.unexpected_message)
    })

    test.each<[string, string, number]>([
      ['empty', '', ALERT.unexpected_message],
      ['two in one record', '01000100', ALERT.decode_error],
    ])('%s', async (_, content, alert) => {
      const client = await connect()
      client.send(TYPE.alert, hex(content))
      await expectAlert(client, alert)
    })

    test('in the handshake: protected, and from a client that has no keys', async () => {
      const one = await RawClient.greet(config)
      one.send(TYPE.alert, hex('022a'))
      await one.over()
      const other = await RawClient.greet(config)
      other.raw(hex('1503030002022f'))
      await other.over()
      expect([one.error!.alert, other.error!.alert]).toEqual([42, 47])
      expect([one.error!.code, other.error!.code]).toEqual(['alert_received', 'alert_received'])
    })
  })

  describe('the user', () => {
    test('may not write before the handshake is complete, or after the end', async () => {
      const client = new RawClient(config)
      expect(() => client.server.write(hex('00'))).toThrow(expect.objectContaining({ code: 'not_ready' }))
      expect(() => client.server.exportKeyingMaterial('x', undefined, 1)).toThrow(
        expect.objectContaining({ code: 'not_ready' }),
      )
      await client.connect()
      await client.server.end()
      expect(() => client.server.write(hex('00'))).toThrow(expect.objectContaining({ code: 'closed' }))
    })

    test('aborts', async () => {
      const client = await connect()
      client.server.abort(ALERT.access_denied)
      await expectAlert(client, ALERT.access_denied)
      expect(client.error).toMatchObject({ code: 'aborted' })
      client.server.abort()
      await client.server.end()
      expect(client.alerts).toHaveLength(1)
    })

    test('aborts in the middle of a key exchange: nothing follows the alert', async () => {
      const client = new RawClient(config)
      client.sendHello()
      client.server.abort()
      await expectAlert(client, ALERT.internal_error)
      for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
      expect(client.messages).toEqual([])
      expect(client.alerts).toHaveLength(1)
    })

    test('ends in the middle of a handshake', async () => {
      const client = await RawClient.greet(config)
      await client.server.end()
      await expectAlert(client, ALERT.user_canceled)
    })

    test('throws in an event', async () => {
      const client = new RawClient(config)
      await client.connect()
      client.serverData.push = () => {
        throw new Error('from the page')
      }
      client.send(TYPE.data, hex('00'))
      await expectAlert(client, ALERT.internal_error)
      expect(client.error!.cause).toEqual(new Error('from the page'))
    })

    test('calls back from an event', async () => {
      const client = await connect()
      client.serverData.push = (bytes) => {
        void client.server.write(bytes)
        void client.server.end()
        return 0
      }
      client.send(TYPE.data, hex('aabb'))
      client.send(TYPE.alert, CLOSE_NOTIFY)
      await client.over()
      expect([client.received, client.alerts, client.error]).toEqual([hex('aabb'), [0], undefined])
    })

    test('does not wait for its writes: the order stays', async () => {
      const client = await connect()
      for (let i = 0; i < 200; i++) void client.server.write(Uint8Array.of(i))
      await client.server.end()
      expect(client.received).toEqual(Uint8Array.from({ length: 200 }, (_, i) => i))
      expect(client.alerts).toEqual([0])
    })

    test('sees every secret, once, when it asks', async () => {
      const labels: string[] = []
      const client = new RawClient({ ...config, onSecret: (label) => labels.push(label) })
      await client.connect()
      expect(labels).toEqual([
        'CLIENT_HANDSHAKE_TRAFFIC_SECRET',
        'SERVER_HANDSHAKE_TRAFFIC_SECRET',
        'CLIENT_TRAFFIC_SECRET_0',
        'SERVER_TRAFFIC_SECRET_0',
        'EXPORTER_SECRET',
      ])
    })

    test.each<[string, Partial<ServerConfig>]>([
      ['no certificate', { certificateChain: [] }],
      ['an empty protocol name', { alpn: [''] }],
      ['a deadline beyond what a timer waits for', { limits: { handshakeTimeoutMs: 2 ** 31 } }],
      ['a deadline that is no number', { limits: { signTimeoutMs: Number.NaN } }],
      ['an unknown algorithm', { algorithm: 'RSA' as 'Ed25519' }],
    ])('configures %s', (_, wrong) => {
      expect(() => new RawClient({ ...config, ...wrong })).toThrow(
        expect.objectContaining({ code: 'invalid_config' }),
      )
    })
  })
})
