// §4.1 and §4.2: what a ClientHello must have, and the alert for each rule that it breaks.

import { describe, expect, test } from 'vitest'
import { type ServerConfig, webCrypto } from '../../src/index.ts'
import { ALERT } from '../../src/messages/index.ts'
import { concat } from '../../src/messages/writer.ts'
import { makeIdentity } from '../support/certificates.ts'
import { ext, records } from '../support/client-hello-builder.ts'
import { growth, LINEAR_GROWTH_MAX } from '../support/cost.ts'
import { hex } from '../support/hex.ts'
import { RawClient, TYPE, until } from '../support/raw-client.ts'

const identity = makeIdentity('ec')
const config: ServerConfig = { ...identity.config, alpn: ['http/1.1'] }

/** The one alert that answers it, which must also be the error's. */
async function alertFor(act: (client: RawClient) => void | Promise<void>, server = config): Promise<number> {
  const client = new RawClient(server)
  await act(client)
  await client.over()
  expect(client.alerts).toEqual([client.error!.alert])
  expect(client.info).toBeUndefined()
  return client.alerts[0]!
}

const without = (client: RawClient, ...types: number[]) =>
  client.hello({ extensions: client.extensions().filter(([type]) => !types.includes(type)) })

describe('the first ClientHello', () => {
  test.each<[string, (client: RawClient) => Uint8Array, number]>([
    ['§4.2.1 no supported_versions', (c) => without(c, 43), ALERT.protocol_version],
    ['§4.2.1 only TLS 1.2 in it', (c) => c.helloWith(ext.supportedVersions(0x0303)), ALERT.protocol_version],
    ['§D.5 SSL 3.0', (c) => c.hello({ legacyVersion: 0x0300 }), ALERT.protocol_version],
    ['§4.1.2 compression', (c) => c.hello({ compressionMethods: [1, 0] }), ALERT.illegal_parameter],
    ['§4.1.2 compression only', (c) => c.hello({ compressionMethods: [1] }), ALERT.illegal_parameter],
    ['§4.1.1 no common suite', (c) => c.hello({ cipherSuites: [0x1304, 0xc02f] }), ALERT.handshake_failure],
    ['§9.2 no signature_algorithms', (c) => without(c, 13), ALERT.missing_extension],
    ['§9.2 no supported_groups', (c) => without(c, 10), ALERT.missing_extension],
    ['§9.2 no key_share', (c) => without(c, 51), ALERT.missing_extension],
    ['§9.2 neither of both', (c) => without(c, 10, 51), ALERT.missing_extension],
    [
      '§4.4.3 no scheme of our key',
      (c) => c.helloWith(ext.signatureAlgorithms(0x0804)),
      ALERT.handshake_failure,
    ],
    [
      '§4.2.7 no common group',
      (c) => c.helloWith(ext.supportedGroups(0x001e), ext.keyShare([0x001e, new Uint8Array(56)])),
      ALERT.handshake_failure,
    ],
    [
      '§4.2.8 a share outside supported_groups',
      (c) => c.helloWith(ext.keyShare(c.x25519Share, [0x0018, new Uint8Array(97)])),
      ALERT.illegal_parameter,
    ],
    [
      '§4.2.8 a share of a wrong length',
      (c) => c.helloWith(ext.keyShare([0x001d, new Uint8Array(33)])),
      ALERT.illegal_parameter,
    ],
    [
      '§4.2.8.2 no point of the curve',
      (c) => c.helloWith(ext.keyShare([0x0017, concat(hex('04'), new Uint8Array(64).fill(1))])),
      ALERT.illegal_parameter,
    ],
    [
      '§7.4.2 X25519 with a point of small order',
      (c) => c.helloWith(ext.keyShare([0x001d, new Uint8Array(32)])),
      ALERT.illegal_parameter,
    ],
    [
      'FIPS 203 §7.2 an encapsulation key above the modulus',
      (c) =>
        c.helloWith(
          ext.supportedGroups(0x11ec),
          ext.keyShare([0x11ec, concat(new Uint8Array(1184).fill(0xff), c.x25519Share[1])]),
        ),
      ALERT.illegal_parameter,
    ],
    ['RFC 7301 §3.2 no common protocol', (c) => c.helloWith(ext.alpn('h3')), ALERT.no_application_protocol],
    [
      '§4.2.9 a PSK without its modes',
      (c) => {
        const others = c.extensions().filter(([type]) => type !== 45)
        return c.hello({ extensions: [...others, ext.preSharedKey([hex('00')], [new Uint8Array(32)])] })
      },
      ALERT.missing_extension,
    ],
  ])('%s', async (_, hello, alert) => {
    expect(await alertFor((client) => client.sendHello(hello(client)))).toBe(alert)
  })

  test('unknown values everywhere (RFC 8701) do no harm', async () => {
    const client = new RawClient(config)
    const grease = client.helloWith(
      ext.supportedVersions(0x7a7a, 0x0304),
      ext.supportedGroups(0x3a3a, 0x001d),
      ext.keyShare([0x3a3a, hex('00')], client.x25519Share),
      ext.signatureAlgorithms(0x4a4a, 0x0403),
      ext.pskModes(0x0b, 1),
      [0x5a5a, new Uint8Array()],
      ext.alpn('zz', 'http/1.1'),
    )
    await client.connect(grease)
    expect(client.info).toMatchObject({ alpn: 'http/1.1', group: 0x001d })
  })

  test('§D.4 the session id is echoed, and change_cipher_spec sent for it', async () => {
    const sent: number[] = []
    const client = new RawClient(config)
    client.onRecord = (type) => sent.push(type)
    await client.connect(client.hello({ sessionId: new Uint8Array(32).fill(3) }))
    expect(client.sessionIdEcho).toEqual(new Uint8Array(32).fill(3))
    expect(sent.slice(0, 2)).toEqual([TYPE.handshake, TYPE.ccs])
  })

  test('X25519 is preferred to a share of P-256', async () => {
    const client = new RawClient(config)
    await client.connect(client.helloWith(ext.keyShare(client.p256Share, client.x25519Share)))
    expect(client.info!.group).toBe(0x001d)
  })

  test('never a HelloRetryRequest for the hybrid alone', async () => {
    const client = new RawClient(config)
    await client.connect(client.helloWith(ext.supportedGroups(0x11ec, 0x001d)))
    expect(client.info!.group).toBe(0x001d)
    expect(client.messages.filter((type) => type === 2)).toHaveLength(1)
  })
})

describe('a signer that cannot sign all that there is', () => {
  const plain: ServerConfig = { ...config, hashes: ['SHA-256'], helloRetryRequest: false }

  test.each<[string, number[], number]>([
    ['the suite that is preferred', [0x1302, 0x1303, 0x1301], 0x1301],
    ['another one of SHA-256', [0x1302, 0x1303], 0x1303],
  ])('§4.1.1 gets %s', async (_, cipherSuites, agreed) => {
    const client = new RawClient(plain)
    await client.connect(client.hello({ cipherSuites }))
    expect(client.info!.cipherSuite).toBe(agreed)
    client.server.abort()
  })

  test('§4.1.1 and no other hash', async () => {
    const alert = await alertFor((c) => c.sendHello(c.hello({ cipherSuites: [0x1302] })), plain)
    expect(alert).toBe(ALERT.handshake_failure)
  })

  test('§4.1.4 no HelloRetryRequest: a client without a share of a group in common is refused', async () => {
    const [groups, x448] = [ext.supportedGroups(0x001e, 0x0017), ext.keyShare([0x001e, new Uint8Array(56)])]
    const hello = (client: RawClient) => client.sendHello(client.helloWith(groups, x448))
    expect(await alertFor(hello, plain)).toBe(ALERT.handshake_failure)
  })

  test('§4.2.8 the share that there is, though another group comes first', async () => {
    const client = new RawClient(plain)
    const groups = ext.supportedGroups(0x001d, 0x0017)
    client.sendHello(client.helloWith(groups, ext.keyShare(client.p256Share)))
    await client.flight()
    client.server.abort()
  })
})

describe('§4.1.4 HelloRetryRequest', () => {
  const groups = ext.supportedGroups(0x001e, 0x0017)
  const x448 = ext.keyShare([0x001e, new Uint8Array(56)])

  async function retried(second: (client: RawClient) => Uint8Array): Promise<RawClient> {
    const client = new RawClient(config)
    client.sendHello(client.helloWith(groups, x448))
    await until(() => client.messages.length > 0)
    client.sendHello(second(client))
    return client
  }

  test('completes with the share that was asked for', async () => {
    const client = await retried((c) => c.helloWith(groups, ext.keyShare(c.p256Share)))
    await client.flight()
    client.sendFinished()
    await until(() => client.info !== undefined)
    expect(client.info!.group).toBe(0x0017)
    expect(client.messages.slice(0, 2)).toEqual([2, 2])
  })

  test('the signer gets all four messages', async () => {
    const asked: string[][] = []
    const client = new RawClient({
      ...config,
      sign: (request, signal) => {
        asked.push(Object.keys(request).sort())
        return config.sign(request, signal)
      },
    })
    client.sendHello(client.helloWith(groups, x448))
    await until(() => client.messages.length > 0)
    client.sendHello(client.helloWith(groups, ext.keyShare(client.p256Share)))
    await client.flight()
    const names = ['algorithm', 'certificate', 'clientHello', 'clientHelloRetry', 'encryptedExtensions']
    expect(asked).toEqual([[...names, 'helloRetryRequest', 'serverHello']])
  })

  test.each<[string, (client: RawClient) => Uint8Array, number]>([
    ['the same share again: a second HelloRetryRequest is never sent', (c) => c.helloWith(groups, x448), 47],
    ['two shares', (c) => c.helloWith(groups, ext.keyShare([0x001e, hex('00')], c.p256Share)), 47],
    ['another random', (c) => otherRandom(c), 47],
    ['another suite', (c) => retryWith(c, { cipherSuites: [0x1302] }), 47],
    ['another session id', (c) => retryWith(c, { sessionId: hex('01') }), 47],
    ['an extension more', (c) => c.helloWith(groups, ext.keyShare(c.p256Share), ext.alpn('http/1.1')), 47],
    ['an extension less', (c) => retryWith(c, {}, 45), 47],
    [
      'another server name',
      (c) => c.helloWith(groups, ext.keyShare(c.p256Share), ext.serverName('other')),
      47,
    ],
    ['§4.2.10 early_data', (c) => c.helloWith(groups, ext.keyShare(c.p256Share), ext.earlyData()), 47],
    ['no share', (c) => c.helloWith(groups, ext.keyShare()), 47],
  ])('%s', async (_, second, alert) => {
    const client = await retried(second)
    await client.over()
    expect(client.alerts).toEqual([alert])
  })

  function retryWith(
    client: RawClient,
    fields: Parameters<RawClient['hello']>[0],
    drop?: number,
  ): Uint8Array {
    const extensions = client
      .extensions(groups, ext.keyShare(client.p256Share))
      .filter(([type]) => type !== drop)
    return client.hello({ extensions, ...fields })
  }
  const otherRandom = (client: RawClient) => retryWith(client, { random: new Uint8Array(32) })
})

describe('fragments (§5.1)', () => {
  test.each([1, 3, 100])('a ClientHello in records of %i bytes', async (size) => {
    const client = new RawClient(config)
    client.sendHello(client.hello(), size)
    await client.flight()
    client.sendFinished()
    await until(() => client.info !== undefined)
  })

  test('no quadratic path: a ClientHello in 1-byte records', async () => {
    const clients: RawClient[] = []
    const cost = growth(3_000, (size) => {
      const client = new RawClient(config)
      clients.push(client)
      client.raw(records(TYPE.handshake, client.helloWith([21, new Uint8Array(size)]), 1))
    })
    expect(cost).toBeLessThan(LINEAR_GROWTH_MAX)
    for (const { server } of clients) server.abort()
  })

  test('a handshake message over 64 KiB', async () => {
    expect(
      await alertFor((client) =>
        client.raw(records(TYPE.handshake, concat(hex('01010001'), new Uint8Array(10)))),
      ),
    ).toBe(ALERT.illegal_parameter)
  })

  test('an empty fragment', async () => {
    expect(await alertFor((client) => client.raw(hex('1603030000')))).toBe(ALERT.unexpected_message)
  })

  test('something behind the ClientHello, before the key change', async () => {
    const both = (client: RawClient) => concat(client.hello(), hex('01'))
    expect(await alertFor((client) => client.raw(records(TYPE.handshake, both(client))))).toBe(
      ALERT.unexpected_message,
    )
  })

  test('another content type in the middle of a message', async () => {
    const cut = (client: RawClient) => records(TYPE.handshake, client.hello().subarray(0, 20))
    const alert = await alertFor((client) => client.raw(concat(cut(client), hex('140303000101'))))
    expect(alert).toBe(ALERT.unexpected_message)
  })
})

describe('instead of a ClientHello', () => {
  test.each<[string, string, number]>([
    ['HTTP', '474554202f20485454502f312e310d0a', ALERT.unexpected_message],
    ['§5 change_cipher_spec', '140303000101', ALERT.unexpected_message],
    ['§5.1 application data', '1703030001aa', ALERT.unexpected_message],
    ['a Finished', '160303000414000000', ALERT.unexpected_message],
    ['§5.1 a plaintext record over 2^14', `1603034001${'01'.repeat(0x4001)}`, ALERT.record_overflow],
    ['§5.2 a record over 2^14 + 256', '1603034101', ALERT.record_overflow],
    ['§6 half an alert', '150303000101', ALERT.decode_error],
    ['§5.1 an empty alert', '1503030000', ALERT.unexpected_message],
    ['a ClientHello that does not decode', '16030300050100000103', ALERT.decode_error],
  ])('%s', async (_, bytes, alert) => {
    expect(await alertFor((client) => client.raw(hex(bytes)))).toBe(alert)
  })

  test('a fatal alert: nothing is answered', async () => {
    const client = new RawClient(config)
    client.raw(hex('15030300020228'))
    await client.over()
    expect(client.alerts).toEqual([])
    expect(client.error).toMatchObject({ code: 'alert_received', alert: 40 })
  })

  test('nothing at all', async () => {
    const client = new RawClient(config)
    client.server.receiveEnd()
    await client.over()
    expect(client.alerts).toEqual([])
    expect(client.error).toMatchObject({ code: 'truncated' })
  })

  test('nothing for too long', async () => {
    const client = new RawClient({ ...config, limits: { handshakeTimeoutMs: 20 } })
    await client.over()
    expect(client.error).toMatchObject({ code: 'handshake_timeout' })
    expect(client.alerts).toEqual([ALERT.handshake_failure])
  })

  test('internal_error where our own cryptography does not end', async () => {
    const crypto = { ...webCrypto, agree: () => new Promise<never>(() => {}) }
    const client = new RawClient({ ...config, crypto, limits: { handshakeTimeoutMs: 20 } })
    client.sendHello()
    await client.over()
    expect(client.error).toMatchObject({ code: 'internal_error' })
    expect(client.alerts).toEqual([ALERT.internal_error])
  })
})
