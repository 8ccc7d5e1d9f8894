// The engine against Node's own TLS client, over loopback TCP.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { atDepth } from '../../tools/test-depth.ts'
import { type ServerConfig, TicketSealer } from '../src/index.ts'
import { makeIdentity } from './support/certificates.ts'
import type { Handlers } from './support/endpoint.ts'
import { exchange, listen } from './support/loopback.ts'
import { syncCrypto } from './support/sync-crypto.ts'

const identities = { ec: makeIdentity('ec'), rsa: makeIdentity('rsa'), ed25519: makeIdentity('ed25519') }
const ca = Object.values(identities).map(({ pem }) => pem)
const config: ServerConfig = { ...identities.ec.config, alpn: ['h2', 'http/1.1'] }

const echo: Handlers = { data: ({ tls }, bytes) => void tls.write(bytes) }

/** A body of many records. */
const LARGE_MIB: number = atDepth(20, 4)

function client(port: number, options: ConnectionOptions = {}): TLSSocket {
  return connect({ port, host: '127.0.0.1', servername: 'localhost', ca, ...options })
}

/** One connection that says hello, gets it back, and closes as both sides should. */
async function hello(options: ConnectionOptions, server: ServerConfig = config, chunk?: number) {
  const { port, sessions } = await listen(server, echo, chunk)
  const socket = client(port, options)
  await once(socket, 'secureConnect')
  const protocol = socket.getProtocol() // a closed socket no longer knows
  socket.write('hello')
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toBe('hello')
  socket.end()
  expect(await sessions[0]!.closed).toBeUndefined()
  return { socket, protocol, info: sessions[0]!.info! }
}

describe('cipher suites', () => {
  test.each([
    ['TLS_AES_128_GCM_SHA256', 0x1301],
    ['TLS_AES_256_GCM_SHA384', 0x1302],
    ['TLS_CHACHA20_POLY1305_SHA256', 0x1303],
  ])('%s', async (ciphers, cipherSuite) => {
    const { protocol, info } = await hello({ ciphers })
    expect(protocol).toBe('TLSv1.3')
    expect(info.cipherSuite).toBe(cipherSuite)
  })
})

describe('groups', () => {
  test.each([
    ['X25519MLKEM768', 0x11ec],
    ['X25519', 0x001d],
    ['P-256', 0x0017],
    ['P-384', 0x0018],
  ])('%s', async (ecdhCurve, group) => {
    expect((await hello({ ecdhCurve })).info.group).toBe(group)
  })

  test('with SHA-384 and P-384', async () => {
    const { info } = await hello({ ecdhCurve: 'P-384', ciphers: 'TLS_AES_256_GCM_SHA384' })
    expect(info).toMatchObject({ group: 0x0018, cipherSuite: 0x1302 })
  })
})

describe('certificates', () => {
  test.each(['ec', 'rsa', 'ed25519'] as const)('%s', async (type) => {
    const { socket } = await hello({}, { ...identities[type].config, alpn: [] })
    expect(socket.authorized).toBe(true)
  })
})

test('a synchronous provider', async () => {
  const { info } = await hello({ ecdhCurve: 'X25519' }, { ...config, crypto: syncCrypto })
  expect(info.group).toBe(0x001d)
})

describe('RFC 7301 ALPN', () => {
  test("the server's order decides", async () => {
    const { socket, info } = await hello({ ALPNProtocols: ['http/1.1', 'h2'] })
    expect([socket.alpnProtocol, info.alpn]).toEqual(['h2', 'h2'])
  })

  test('none offered, none selected', async () => {
    const { socket, info } = await hello({})
    expect([socket.alpnProtocol, info.alpn]).toEqual([false, undefined])
  })

  test('nothing in common', async () => {
    const { port, sessions } = await listen(config)
    const [error] = (await once(client(port, { ALPNProtocols: ['acme-tls/1'] }), 'error')) as [Error]
    expect(error.message).toMatch(/no application protocol/)
    expect(await sessions[0]!.closed).toMatchObject({ code: 'no_application_protocol', alert: 120 })
  })
})

test('§4.2.1 a client without TLS 1.3', async () => {
  const { port, sessions } = await listen(config)
  const [error] = (await once(client(port, { maxVersion: 'TLSv1.2' }), 'error')) as [Error]
  expect(error.message).toMatch(/protocol version/)
  expect(await sessions[0]!.closed).toMatchObject({ code: 'protocol_version' })
})

test('server name in lower case', async () => {
  const checkServerIdentity = () => undefined
  const { info } = await hello({ servername: 'LocalHost', checkServerIdentity })
  expect(info.serverName).toBe('localhost')
})

test('input in single bytes', async () => {
  await hello({}, config, 1)
})

test('§7.5 both sides export the same', async () => {
  const { port, sessions } = await listen(config)
  const socket = client(port)
  await once(socket, 'secureConnect')
  const { tls } = sessions[0]!
  await expect.poll(() => sessions[0]!.info).toBeDefined()
  const context = randomBytes(20)
  for (const [length, given] of [
    [32, undefined],
    [32, context],
    [100, context],
  ] as const) {
    const theirs = socket.exportKeyingMaterial(length, 'Svc-MITM-Probe-v1', given ?? Buffer.alloc(0))
    expect(tls.exportKeyingMaterial('Svc-MITM-Probe-v1', given, length)).toEqual(new Uint8Array(theirs))
  }
  socket.destroy()
})

describe('§4.6.1 tickets', () => {
  test('resume, without a signature', async () => {
    let signatures = 0
    const server: ServerConfig = {
      ...config,
      tickets: new TicketSealer(),
      sign: (request, signal) => {
        signatures++
        return config.sign(request, signal)
      },
    }
    const { port, sessions } = await listen(server, echo)
    const first = client(port, { ALPNProtocols: ['http/1.1'] })
    const [session] = (await once(first, 'session')) as [Buffer]
    first.end()
    const again = client(port, { ALPNProtocols: ['http/1.1'], session })
    await once(again, 'secureConnect')
    expect(again.isSessionReused()).toBe(true)
    await expect.poll(() => sessions[1]!.info).toMatchObject({ resumed: true, alpn: 'http/1.1' })
    expect(signatures).toBe(1)
    again.end('bye')

    // Bound to the protocol, and to the certificate.
    const otherAlpn = client(port, { ALPNProtocols: ['h2'], session })
    await once(otherAlpn, 'secureConnect')
    expect(otherAlpn.isSessionReused()).toBe(false)
    otherAlpn.destroy()
    const other = await listen({ ...server, ...identities.rsa.config }, echo)
    const otherCertificate = client(other.port, { ALPNProtocols: ['http/1.1'], session })
    await once(otherCertificate, 'secureConnect')
    expect(otherCertificate.isSessionReused()).toBe(false)
    otherCertificate.destroy()
  })

  test('of another instance mean nothing', async () => {
    const one = await listen({ ...config, tickets: new TicketSealer() })
    const socket = client(one.port)
    const [session] = (await once(socket, 'session')) as [Buffer]
    const two = await listen({ ...config, tickets: new TicketSealer() })
    const again = client(two.port, { session })
    await once(again, 'secureConnect')
    expect(again.isSessionReused()).toBe(false)
    again.destroy()
  })
})

test(`${LARGE_MIB} MiB each way`, async () => {
  const { socket, sessions } = await exchange(config, client, LARGE_MIB)
  socket.end()
  await sessions[0]!.closed
})

describe('a client that leaves', () => {
  test('in the middle of data is a truncation', async () => {
    const { port, sessions } = await listen(config)
    const socket = client(port)
    await once(socket, 'secureConnect')
    await expect.poll(() => sessions[0]!.info).toBeDefined()
    socket.destroy()
    expect(await sessions[0]!.closed).toMatchObject({ code: 'truncated' })
  })

  test('while the signature is awaited: the signer is told', async () => {
    const asked = Promise.withResolvers<AbortSignal>()
    const { port, sessions } = await listen({
      ...config,
      sign: (_, signal) => {
        asked.resolve(signal)
        return new Promise(() => {})
      },
    })
    const socket = client(port)
    socket.on('error', () => {})
    const signal = await asked.promise
    socket.destroy()
    expect(await sessions[0]!.closed).toMatchObject({ code: 'truncated' })
    expect(signal.aborted).toBe(true)
  })
})
