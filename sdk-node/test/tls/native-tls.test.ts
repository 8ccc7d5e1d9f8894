// TLS that OpenSSL ends, over a socket of a native session and over a stream in memory, against Node's own client.

import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTcp, createServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import type { ByteStream, EndTlsOptions, SiteKey, TlsConnection } from '@svc/sdk-core'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { MemoryStream } from '../../../sdk-core/test/support/memory-stream.ts'
import { TEST_TIMEOUT_MS } from '../../../tools/test-timeouts.ts'
import { SocketStream } from '../../src/net/socket-stream.ts'
import { STREAM_LINGER_MS, StreamDuplex } from '../../src/net/stream-duplex.ts'
import { nativeTls, TLS_CONTEXT_LIFETIME_MS } from '../../src/tls/native-tls.ts'
import { listening } from '../support/exposed.ts'

const SERVER_NAME = 'relay.localhost'
const privateKey = createPrivateKey(PRIVATE_KEY_PEM)
const key = { privateKey } as unknown as SiteKey
const chain = [new Uint8Array(new X509Certificate(CERTIFICATE_PEM).raw)]
const OPTIONS: EndTlsOptions = {
  chain,
  key,
  alpn: ['http/1.1'],
  minVersion: 'TLSv1.3',
  handshakeTimeoutMs: TEST_TIMEOUT_MS,
}

let ends: (() => unknown)[] = []
afterEach(() => {
  for (const end of ends) end()
  ends = []
})

/** A visitor's side of a carrier, and the site's. */
type Carrier = () => Promise<{ visitor: Socket; site: ByteStream }>

const overSocket: Carrier = async () => {
  const server = createServer({ allowHalfOpen: true })
  const visitor = connectTcp({ port: await listening(server), host: '127.0.0.1' })
  const [accepted] = (await once(server, 'connection')) as [Socket]
  ends.push(() => {
    visitor.destroy()
    accepted.destroy()
    server.close()
  })
  return { visitor, site: new SocketStream(accepted, () => accepted.resetAndDestroy()) }
}

const overStream: Carrier = async () => {
  const [visitor, site] = MemoryStream.pair()
  return { visitor: new StreamDuplex(visitor) as unknown as Socket, site }
}

describe.each([
  ['a socket', overSocket],
  ['a stream', overStream],
])('over %s', (_, carrier) => {
  const endTls = nativeTls()

  async function meet(
    client: ConnectionOptions = {},
    options: Partial<EndTlsOptions> = {},
  ): Promise<{ visitor: TLSSocket; site: TlsConnection }> {
    const { visitor: socket, site } = await carrier()
    const visitor = connect({
      socket,
      servername: SERVER_NAME,
      ca: CERTIFICATE_PEM,
      ALPNProtocols: ['http/1.1'],
      ...client,
    })
    visitor.on('error', () => {})
    return { visitor, site: endTls(site, { ...OPTIONS, ...options })! }
  }

  test('bytes pass both ways, and each direction ends by itself', async () => {
    const { visitor, site } = await meet({ allowHalfOpen: true } as ConnectionOptions)
    expect(await site.secure).toEqual({ alpn: 'http/1.1' })
    visitor.end('ask')
    expect(Buffer.from((await site.read())!).toString()).toBe('ask')
    expect(await site.read()).toBeUndefined()
    await site.write(new TextEncoder().encode('answer'))
    await site.end()
    expect(Buffer.concat(await visitor.toArray()).toString()).toBe('answer')
  })

  test('megabytes arrive whole, both ways at once', async () => {
    const bytes = randomBytes(8_000_000)
    const { visitor, site } = await meet()
    const echoed = (async () => {
      for (let piece = await site.read(); piece; piece = await site.read()) await site.write(piece)
    })().catch(() => {})
    visitor.write(bytes)
    const got: Buffer[] = []
    let size = 0
    for await (const piece of visitor) {
      got.push(piece)
      size += piece.length
      if (size === bytes.length) break
    }
    expect(Buffer.concat(got).equals(bytes)).toBe(true)
    site.abort()
    await echoed
  })

  test('a visitor that reads nothing stops the site', async () => {
    const { visitor, site } = await meet()
    await site.secure
    visitor.pause()
    const block = new Uint8Array(64 * 1024)
    let written = 0
    const BLOCKS_MAX = 1000
    const stopped = (async () => {
      for (; written < BLOCKS_MAX; written++) await site.write(block)
    })().catch(() => {})
    const isStill = async (): Promise<boolean> => {
      const before = written
      await new Promise((resolve) => setTimeout(resolve, 300))
      return written === before
    }
    await expect.poll(isStill).toBe(true)
    expect(written).toBeLessThan(BLOCKS_MAX)
    site.abort()
    await stopped
  })

  test.each([
    [['h2', 'http/1.1'], ['http/1.1', 'h2'], 'h2'],
    [['h2', 'http/1.1'], ['http/1.1'], 'http/1.1'],
    [['http/1.1'], undefined, undefined],
  ])('RFC 7301: %j meets %j', async (alpn, ALPNProtocols, chosen) => {
    const { visitor, site } = await meet({ ALPNProtocols } as ConnectionOptions, { alpn })
    expect((await site.secure).alpn).toBe(chosen)
    visitor.destroy()
  })

  test('RFC 7301 §3.2: no protocol in common is refused', async () => {
    const { visitor, site } = await meet({ ALPNProtocols: ['spdy/3'] })
    await expect(site.secure).rejects.toThrow()
    await expect(site.read()).rejects.toThrow()
    visitor.destroy()
  })

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s is spoken where it is allowed', async (version) => {
    const { visitor, site } = await meet({ maxVersion: version }, { minVersion: version, chain: [...chain] })
    await site.secure
    await site.write(new Uint8Array(1))
    await once(visitor, 'data')
    expect(visitor.getProtocol()).toBe(version)
    expect(visitor.getCipher().name).toMatch(/GCM|CHACHA20/)
  })

  test('TLS 1.2 is refused where TLS 1.3 is the oldest version', async () => {
    const { visitor, site } = await meet({ maxVersion: 'TLSv1.2' })
    const told = new Promise((resolve) => visitor.once('error', resolve))
    await expect(site.secure).rejects.toThrow()
    expect(await told).toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' })
  })

  test('TLS 1.2 without forward secrecy or AEAD is refused', async () => {
    const { site } = await meet(
      { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA256:AES128-GCM-SHA256' },
      { minVersion: 'TLSv1.2', chain: [...chain] },
    )
    await expect(site.secure).rejects.toThrow()
  })

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s: a returning visitor resumes', async (version) => {
    const options = { minVersion: version, chain: [...chain] }
    const first = await meet({ maxVersion: version }, options)
    const ticket = once(first.visitor, 'session')
    await first.site.secure
    await first.site.write(new Uint8Array(1))
    const [session] = (await ticket) as [Buffer]
    const second = await meet({ maxVersion: version, session }, options)
    await second.site.secure
    await second.site.write(new Uint8Array(1))
    await once(second.visitor, 'data')
    expect(second.visitor.isSessionReused()).toBe(true)
  })

  test('RFC 8446 §7.5: both sides export the same', async () => {
    const { visitor, site } = await meet()
    await Promise.all([site.secure, once(visitor, 'secureConnect')])
    const theirs = visitor.exportKeyingMaterial(32, 'EXPORTER-test', Buffer.alloc(0))
    expect(Buffer.from(site.exportKeyingMaterial('EXPORTER-test', 32))).toEqual(theirs)
  })

  test('the key log has what the visitor logs', async () => {
    const ours: string[] = []
    const theirs: string[] = []
    const { visitor, site } = await meet(
      {},
      {
        onSecret: (label, random, secret) =>
          ours.push(`${label} ${Buffer.from(random).toString('hex')} ${Buffer.from(secret).toString('hex')}`),
      },
    )
    visitor.on('keylog', (line) => theirs.push(line.toString().trim()))
    await site.secure
    await site.write(new Uint8Array(1))
    await once(visitor, 'data')
    expect(ours.toSorted()).toEqual(theirs.toSorted())
    expect(ours.length).toBeGreaterThan(3)
  })

  test('a handshake that stalls ends at its deadline', async () => {
    const { site } = await carrier()
    const late = endTls(site, { ...OPTIONS, handshakeTimeoutMs: 50 })!.secure
    await expect(late).rejects.toMatchObject({ code: 'handshake_timeout' })
  })

  test('a handshake that fails has the reason of OpenSSL', async () => {
    const { site } = await meet({ maxVersion: 'TLSv1.2' })
    await expect(site.secure).rejects.toMatchObject({ code: 'ERR_SSL_UNSUPPORTED_PROTOCOL' })
  })

  test('what is no TLS is refused', async () => {
    const { visitor, site } = await carrier()
    visitor.on('error', () => {})
    visitor.write('GET / HTTP/1.1\r\n\r\n')
    await expect(endTls(site, OPTIONS)!.secure).rejects.toThrow()
  })

  test('a visitor that breaks off, and a site that does, end the other side', async () => {
    const first = await meet()
    await first.site.secure
    first.visitor.destroy()
    await expect(
      (async () => {
        if (await first.site.read()) return
        await first.site.write(new Uint8Array(1))
        await first.site.end()
        throw new Error('the visitor left in order')
      })(),
    ).rejects.toThrow()
    const second = await meet()
    await second.site.secure
    const closed = new Promise((resolve) => second.visitor.once('close', resolve))
    second.site.abort()
    await closed
    await expect(second.site.write(new Uint8Array(1))).rejects.toThrow()
  })
})

/** A record of application data under no key that anybody has. */
const FORGED = record(23, randomBytes(64))

describe.each([
  ['a socket', overSocket],
  ['a stream', overStream],
])(
  'a fatal error of TLS over %s ends the connection with its alert, and no timer is waited for',
  (_, carrier) => {
    const NEVER_MS = 2 ** 31 - 1
    const serve = (site: ByteStream): TlsConnection =>
      nativeTls()(site, { ...OPTIONS, handshakeTimeoutMs: NEVER_MS })!

    test.each([
      ['no TLS at all', [], Buffer.from('GET / HTTP/1.1\r\n\r\n')],
      ['a record that is too long', [21, 2], record(22, Buffer.alloc(0x5000))],
      ['data before the handshake', [21, 2], FORGED],
      ['an invalid handshake message', [21, 2], record(22, Buffer.from([99, 0, 0, 1, 0]))],
    ])('before the handshake: %s', async (_, alert, bytes) => {
      const { visitor, site } = await carrier()
      const tls = serve(site)
      visitor.write(bytes)
      const answer = Buffer.concat(await visitor.toArray())
      // OpenSSL has no alert for what is no TLS.
      expect([answer[0], answer[5]].filter((byte) => byte !== undefined)).toEqual(alert)
      await expect(tls.secure).rejects.toThrow()
      await expect(tls.read()).rejects.toThrow()
    })

    test('within the handshake: a version that the site does not speak', async () => {
      const { visitor, site } = await carrier()
      const tls = serve(site)
      const client = connect({ socket: visitor, maxVersion: 'TLSv1.2', ca: CERTIFICATE_PEM })
      expect((await once(client, 'error').catch((error) => [error]))[0].message).toMatch(
        /alert protocol version/,
      )
      await expect(tls.secure).rejects.toThrow()
    })

    test.each([
      ['a record that was forged', FORGED, /bad record mac/],
      ['a record that is too long', record(23, Buffer.alloc(0x5000)), /record overflow/],
      ['a record of an unknown type', record(99, randomBytes(64)), /unexpected message/],
    ])('after the handshake: %s', async (_, bytes, alert) => {
      const { visitor, site } = await carrier()
      const tls = serve(site)
      const client = connect({ socket: tapped(visitor), servername: SERVER_NAME, ca: CERTIFICATE_PEM })
      const told = new Promise<Error>((resolve) => client.once('error', resolve))
      await Promise.all([tls.secure, once(client, 'secureConnect')])
      const over = tls.read()
      visitor.write(bytes)
      await expect(over).rejects.toThrow()
      expect((await told).message).toMatch(alert)
      await expect(tls.write(new Uint8Array(1))).rejects.toThrow()
    })
  },
)

function record(type: number, fragment: Buffer): Buffer {
  const head = Buffer.from([type, 3, 3, 0, 0])
  head.writeUInt16BE(fragment.length, 3)
  return Buffer.concat([head, fragment])
}

/** The client's end of a carrier, to which the test writes records of its own as well. */
function tapped(visitor: Socket): Duplex {
  return new Duplex({
    read() {
      visitor.resume()
    },
    write: (chunk, _encoding, done) => void visitor.write(chunk, () => done()),
    construct(done) {
      visitor.on('data', (bytes) => this.push(bytes))
      visitor.on('end', () => this.push(null))
      done()
    },
  })
}

test('bytes that were read before the handshake are part of it', async () => {
  const { visitor: socket, site } = await overSocket()
  const visitor = connect({ socket, servername: SERVER_NAME, ca: CERTIFICATE_PEM })
  const first = (await site.read())!
  site.unread!(first)
  expect(await nativeTls()(site, OPTIONS)!.secure).toEqual({ alpn: undefined })
  visitor.destroy()
})

test('a key that OpenSSL cannot use is left to the engine, with the stream as it was', async () => {
  const [visitor, site] = MemoryStream.pair()
  const other: SiteKey = {
    algorithm: 'ECDSA_SHA256',
    publicKey: new Uint8Array(),
    sign: async () => new Uint8Array(),
  }
  expect(nativeTls()(site, { ...OPTIONS, key: other })).toBeUndefined()
  await visitor.write(new Uint8Array([1]))
  expect(await site.read()).toEqual(new Uint8Array([1]))
})

test('a stream that its user leaves is aborted when the visitor does not end it in STREAM_LINGER_MS', async () => {
  const [visitor, site] = MemoryStream.pair()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    new StreamDuplex(site).destroy()
    await vi.advanceTimersByTimeAsync(STREAM_LINGER_MS - 1)
    expect(visitor.isBroken).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(visitor.isBroken).toBe(true)
  } finally {
    vi.useRealTimers()
  }
})

test('a ticket is worth nothing after TLS_CONTEXT_LIFETIME_MS', async () => {
  const endTls = nativeTls()
  const visit = async (session?: Buffer): Promise<TLSSocket> => {
    const { visitor: socket, site } = await overSocket()
    const visitor = connect({
      socket,
      servername: SERVER_NAME,
      ca: CERTIFICATE_PEM,
      ...(session && { session }),
    })
    visitor.on('session', (ticket) => {
      last = ticket
    })
    const tls = endTls(site, OPTIONS)!
    await tls.secure
    await tls.write(new Uint8Array(1))
    await once(visitor, 'data')
    return visitor
  }
  let last: Buffer | undefined
  await visit()
  expect((await visit(last)).isSessionReused()).toBe(true)
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + TLS_CONTEXT_LIFETIME_MS + 1)
  expect((await visit(last)).isSessionReused()).toBe(false)
  clock.mockRestore()
})

test('the meter of a native session counts what passes on its socket', async () => {
  const server = createServer({ allowHalfOpen: true })
  const socket = connectTcp({ port: await listening(server), host: '127.0.0.1' })
  const [accepted] = (await once(server, 'connection')) as [Socket]
  let [received, sent] = [0, 0]
  const carrier = new SocketStream(accepted, () => accepted.resetAndDestroy(), {
    received: (bytes) => (received += bytes),
    sent: (bytes) => (sent += bytes),
  })
  const visitor = connect({ socket, servername: SERVER_NAME, ca: CERTIFICATE_PEM })
  const site = nativeTls()(carrier, OPTIONS)!
  await site.secure
  visitor.write(Buffer.alloc(10_000))
  for (let size = 0; size < 10_000; ) size += (await site.read())!.length
  await site.write(new Uint8Array(10_000))
  await site.end()
  visitor.resume()
  visitor.end()
  await new Promise((resolve) => accepted.once('close', resolve))
  expect([received, sent]).toEqual([socket.bytesWritten, socket.bytesRead])
  server.close()
})
