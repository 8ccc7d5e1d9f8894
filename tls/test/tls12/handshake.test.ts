// TLS 1.2: what a client gets, and the alert for each rule that it breaks.

import { describe, expect, test, vi } from 'vitest'
import { type ServerConfig, type Tls12SignRequest, webCrypto } from '../../src/index.ts'
import { ALERT } from '../../src/messages/index.ts'
import { concat, handshakeMessage, vector } from '../../src/messages/writer.ts'
import { makeIdentity } from '../support/certificates.ts'
import { ext, records } from '../support/client-hello-builder.ts'
import { expectAlert } from '../support/expect-alert.ts'
import { hex } from '../support/hex.ts'
import { until } from '../support/raw-client.ts'
import { syncCrypto } from '../support/sync-crypto.ts'
import { ext12, RawClient12, TYPE } from '../support/tls12-raw-client.ts'

const identity = makeIdentity('ec')
const tls12: ServerConfig = { ...identity.tls12, alpn: ['http/1.1'] }

describe.each([
  ['WebCrypto', tls12],
  ['a synchronous provider', { ...tls12, crypto: syncCrypto }],
])('on %s', (_, config) => {
  const connect = (hello?: Uint8Array) => new RawClient12(config).connect(hello)

  test('RFC 5246 §7.3 the messages in order, and data both ways', async () => {
    const client = await connect()
    expect(client.messages).toEqual([2, 11, 12, 14, 'ccs', 20])
    expect(client.info).toEqual({
      version: 'TLSv1.2',
      serverName: 'localhost',
      alpn: undefined,
      cipherSuite: 0xc02b,
      group: 0x001d,
      resumed: false,
    })
    client.send(TYPE.data, hex('0102'))
    await until(() => client.serverData.length === 1)
    await client.server.write(hex('0304'))
    expect([client.serverData, client.received]).toEqual([[hex('0102')], hex('0304')])
    client.server.abort()
  })

  test('RFC 5246 §7.4.1.2 bytes behind the ClientHello, in its record', async () => {
    const client = new RawClient12(config)
    client.raw(records(TYPE.handshake, concat(client.hello(), hex('10'))))
    await expectAlert(client, ALERT.unexpected_message)
    expect(client.messages).toEqual([])
  })

  test('RFC 8446 §4.1.3 the downgrade sentinel', async () => {
    const client = await connect()
    expect(client.serverHello!.random.subarray(-8)).toEqual(hex('444f574e47524401'))
    client.server.abort()
  })

  test('in fragments of one byte', async () => {
    const client = await RawClient12.greet(config)
    client.sendClientKeyExchange(undefined, 1)
    client.sendChangeCipherSpec()
    client.sendFinished(undefined, 1)
    await until(() => client.info !== undefined)
    client.server.abort()
  })

  describe('ServerHello', () => {
    const extensionsOf = async (hello?: (client: RawClient12) => Uint8Array) => {
      const client = new RawClient12(config)
      await client.connect(hello?.(client))
      client.server.abort()
      return { client, extensions: client.serverHello!.extensions }
    }

    test('answers what was asked, and nothing else', async () => {
      const { client, extensions } = await extensionsOf((c) =>
        c.helloWith(
          [5, hex('0100000000')],
          [18, hex('')],
          ext.alpn('h2', 'http/1.1'),
          ext.recordSizeLimit(100),
          [35, hex('')],
        ),
      )
      expect(Object.fromEntries(extensions)).toEqual({
        0: hex(''),
        11: hex('0100'),
        16: hex('000908687474702f312e31'),
        23: hex(''),
        28: hex('4000'),
        65281: hex('00'),
      })
      expect(client.serverHello!.sessionId).toHaveLength(0)
    })

    test('without extensions when there were none but the necessary', async () => {
      const { extensions } = await extensionsOf((c) =>
        c.hello({ extensions: [ext.supportedGroups(0x001d, 0x0017), ext.signatureAlgorithms(0x0403)] }),
      )
      expect(extensions.size).toBe(0)
    })

    test('RFC 5746 §3.6 the signalling suite is answered with renegotiation_info', async () => {
      const { extensions } = await extensionsOf((c) =>
        c.hello({
          cipherSuites: [0xc02b, 0x00ff],
          extensions: c.extensions().filter(([type]) => type !== 0xff01),
        }),
      )
      expect(extensions.get(0xff01)).toEqual(hex('00'))
    })
  })

  test('RFC 8449 §4 record_size_limit counts content alone', async () => {
    const client = await connect()
    client.server.abort()
    const limited = new RawClient12(config)
    await limited.connect(limited.helloWith(ext.recordSizeLimit(100)))
    await limited.server.write(new Uint8Array(250))
    expect(limited.recordSizes).toEqual([100, 100, 50])
    limited.server.abort()
  })

  test('the signer gets what is to be signed, before ServerKeyExchange', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let request: Tls12SignRequest | undefined
    const client = new RawClient12({
      ...config,
      signTls12: async (asked, signal) => {
        request = asked
        await promise
        return config.signTls12!(asked, signal)
      },
    })
    client.sendHello()
    await until(() => request !== undefined)
    expect(client.messages).toEqual([2, 11])
    expect(request).toEqual({
      algorithm: 'ECDSA_SHA256',
      clientRandom: new Uint8Array(32).fill(0x5a),
      serverRandom: client.serverHello!.random,
      serverEcdhParams: concat(hex('03001d20'), request!.serverEcdhParams.subarray(4)),
    })
    resolve()
    await client.flight()
    client.server.abort()
  })

  describe('RFC 7627', () => {
    const exported = (client: RawClient12, label = 'EXPORTER-test', context?: Uint8Array) =>
      client.server.exportKeyingMaterial(label, context, 40)

    test('RFC 5705 both sides export the same; no context is not an empty one', async () => {
      const client = await connect()
      for (const context of [undefined, hex(''), hex('0102')])
        expect(exported(client, 'EXPORTER-test', context)).toEqual(
          client.exportKeyingMaterial('EXPORTER-test', context, 40),
        )
      expect(exported(client)).not.toEqual(exported(client, 'EXPORTER-test', hex('')))
      client.server.abort()
    })

    test.each([
      'master secret',
      'extended master secret',
      'key expansion',
      'client finished',
      'server finished',
    ])('RFC 5705 §4 "%s" is no label to export with', async (label) => {
      const client = await connect()
      expect(() => exported(client, label)).toThrow(expect.objectContaining({ code: 'no_exporter' }))
      client.server.abort()
    })

    test('§5.4 a client without it is served, and nothing is exported', async () => {
      const client = new RawClient12(config)
      await client.connect(client.helloWithout(23))
      expect(client.info).toBeDefined()
      expect(client.serverHello!.extensions.has(23)).toBe(false)
      expect(() => exported(client)).toThrow(expect.objectContaining({ code: 'no_exporter' }))
      client.server.abort()
    })
  })

  describe('RFC 5246 §7.4.1.2 the ClientHello', () => {
    test.each<[string, (client: RawClient12) => Uint8Array, number]>([
      ['compression without null', (c) => c.hello({ compressionMethods: [1] }), ALERT.illegal_parameter],
      ['no common suite', (c) => c.hello({ cipherSuites: [0x002f, 0x1301] }), ALERT.handshake_failure],
      ['a suite of another key', (c) => c.hello({ cipherSuites: [0xc02f] }), ALERT.handshake_failure],
      ['§7.4.1.4.1 no signature_algorithms: SHA-1', (c) => c.helloWithout(13), ALERT.handshake_failure],
      [
        'no scheme of our key',
        (c) => c.helloWith(ext.signatureAlgorithms(0x0401, 0x0201)),
        ALERT.handshake_failure,
      ],
      [
        'RFC 8422 §5.1 no common group',
        (c) => c.helloWith(ext.supportedGroups(0x001e)),
        ALERT.handshake_failure,
      ],
      [
        "RFC 8422 §5.1 not the group of the certificate's key",
        (c) => c.helloWith(ext.supportedGroups(0x001d)),
        ALERT.handshake_failure,
      ],
      [
        'RFC 8422 §5.1.2 only compressed points',
        (c) => c.helloWith(ext12.pointFormats(1, 2)),
        ALERT.illegal_parameter,
      ],
      ['RFC 8422 §5.1.2 half a list', (c) => c.helloWith([11, hex('0200')]), ALERT.decode_error],
      ['RFC 7627 §5.1 content', (c) => c.helloWith([23, hex('00')]), ALERT.decode_error],
      [
        'RFC 5746 §3.6 another connection',
        (c) => c.helloWith([0xff01, hex('0cffffffffffffffffffffffff')]),
        ALERT.handshake_failure,
      ],
      ['RFC 7301 §3.2 no common protocol', (c) => c.helloWith(ext.alpn('h3')), ALERT.no_application_protocol],
    ])('%s', async (_, hello, alert) => {
      const client = new RawClient12(config)
      client.sendHello(hello(client))
      await expectAlert(client, alert)
      expect(client.messages).toEqual([])
    })

    test('compression may be offered beside none', async () => {
      const client = new RawClient12(config)
      await client.connect(client.hello({ compressionMethods: [1, 0] }))
      expect(client.info).toBeDefined()
      client.server.abort()
    })

    test('RFC 8422 §4 without supported_groups it is P-256', async () => {
      const client = new RawClient12(config)
      client.sendHello(client.helloWithout(10))
      await client.flight()
      expect(client.messages).toEqual([2, 11, 12, 14])
      client.server.abort()
    })
  })

  describe('the rest of the handshake', () => {
    const atFlight = async () => {
      const client = await RawClient12.greet(config)
      return client
    }

    test.each<[string, (client: RawClient12) => void, number]>([
      [
        'RFC 8422 §5.7 a point of another length',
        (c) => c.sendClientKeyExchange(handshakeMessage(16, vector(1, new Uint8Array(33)))),
        ALERT.illegal_parameter,
      ],
      [
        'RFC 8422 §5.11 a point of small order',
        (c) => c.sendClientKeyExchange(handshakeMessage(16, vector(1, new Uint8Array(32)))),
        ALERT.illegal_parameter,
      ],
      ['an empty ClientKeyExchange', (c) => c.sendClientKeyExchange(hex('10000000')), ALERT.decode_error],
      [
        'a byte too many',
        (c) => c.sendClientKeyExchange(concat(hex('10000022'), c.clientKeyExchange().subarray(4), hex('00'))),
        ALERT.decode_error,
      ],
      [
        'a Certificate that nobody asked for',
        (c) => c.send(TYPE.handshake, hex('0b000003000000')),
        ALERT.unexpected_message,
      ],
      ['Finished first', (c) => c.send(TYPE.handshake, hex('1400000c')), ALERT.unexpected_message],
      ['a ClientHello again', (c) => c.send(TYPE.handshake, c.hello()), ALERT.unexpected_message],
      ['§7.1 change_cipher_spec first', (c) => c.send(TYPE.ccs, hex('01')), ALERT.unexpected_message],
      ['data', (c) => c.send(TYPE.data, hex('00')), ALERT.unexpected_message],
      ['an empty fragment', (c) => c.send(TYPE.handshake, hex('')), ALERT.unexpected_message],
      [
        '§7.1 change_cipher_spec in the middle of a message',
        (c) => {
          c.send(TYPE.handshake, c.clientKeyExchange().subarray(0, 9))
          c.send(TYPE.ccs, hex('01'))
        },
        ALERT.unexpected_message,
      ],
      [
        '§7.1 a message that crosses it',
        (c) => {
          c.send(TYPE.handshake, concat(c.clientKeyExchange(), hex('14')))
          c.send(TYPE.ccs, hex('01'))
        },
        ALERT.unexpected_message,
      ],
      [
        'no change_cipher_spec',
        (c) => {
          c.sendClientKeyExchange()
          c.send(TYPE.handshake, c.finished())
        },
        ALERT.unexpected_message,
      ],
      [
        '§7.1 a change_cipher_spec of another value',
        (c) => {
          c.sendClientKeyExchange()
          c.send(TYPE.ccs, hex('02'))
        },
        ALERT.decode_error,
      ],
      [
        '§7.1 a long change_cipher_spec',
        (c) => {
          c.sendClientKeyExchange()
          c.send(TYPE.ccs, hex('0101'))
        },
        ALERT.decode_error,
      ],
      [
        '§7.1 two of them: the second one is not protected',
        (c) => {
          c.sendClientKeyExchange()
          c.send(TYPE.ccs, hex('01'))
          c.send(TYPE.ccs, hex('01'))
        },
        ALERT.bad_record_mac,
      ],
      [
        '§7.1 a protected one',
        (c) => {
          c.sendClientKeyExchange()
          c.sendChangeCipherSpec()
          c.send(TYPE.ccs, hex('01'))
        },
        ALERT.unexpected_message,
      ],
      [
        '§7.4.9 a Finished without protection',
        (c) => {
          c.sendClientKeyExchange()
          c.sendChangeCipherSpec()
          c.protection = undefined
          c.send(TYPE.handshake, c.finished())
        },
        ALERT.bad_record_mac,
      ],
      ['§7.4.9 something behind it', (c) => finish(c, (m) => concat(m, hex('01'))), ALERT.unexpected_message],
      ['§7.4.9 a wrong Finished', (c) => finish(c, (m) => m.with(8, m[8]! ^ 1)), ALERT.decrypt_error],
      [
        '§7.4.9 a short Finished',
        (c) => finish(c, (m) => concat(hex('1400000b'), m.subarray(4, 15))),
        ALERT.decode_error,
      ],
      [
        'data before Finished',
        (c) => {
          c.sendClientKeyExchange()
          c.sendChangeCipherSpec()
          c.send(TYPE.data, hex('00'))
        },
        ALERT.unexpected_message,
      ],
    ])('%s', async (_, act, alert) => {
      const client = await atFlight()
      act(client)
      await expectAlert(client, alert)
      expect(client.info).toBeUndefined()
    })

    const finish = (client: RawClient12, change: (message: Uint8Array) => Uint8Array) => {
      client.sendClientKeyExchange()
      client.sendChangeCipherSpec()
      client.sendFinished(change(client.finished()))
    }

    test('§7.2 warnings do not end it, a fatal alert does', async () => {
      const client = await atFlight()
      client.send(TYPE.alert, hex('0129'))
      client.send(TYPE.alert, hex('0228'))
      await client.over()
      expect(client.error).toMatchObject({ code: 'alert_received', alert: 40 })
      expect(client.alerts).toEqual([])
    })

    test('a client that leaves', async () => {
      const client = await atFlight()
      client.server.receiveEnd()
      await client.over()
      expect(client.error).toMatchObject({ code: 'truncated' })
    })
  })

  test.each(['randomBytes', 'keyPair'] as const)('a provider that fails in %s', async (name) => {
    const crypto = {
      ...(config.crypto ?? webCrypto),
      [name]: vi.fn(() => Promise.reject(new Error('broken'))),
    }
    if (name === 'randomBytes')
      crypto.randomBytes = () => {
        throw new Error('broken')
      }
    const client = new RawClient12({ ...config, crypto })
    client.sendHello()
    await client.over()
    expect(client.error).toMatchObject({ code: 'internal_error', cause: new Error('broken') })
  })
})
