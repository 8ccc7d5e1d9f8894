// Secrets are erased when a connection ends, also in the middle of its handshake.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Secret, Secrets } from '../../src/crypto/secrets.ts'
import type { CryptoProvider, ServerConfig } from '../../src/index.ts'
import { makeIdentity } from '../support/certificates.ts'
import { hex } from '../support/hex.ts'
import { RawClient, TYPE, until } from '../support/raw-client.ts'
import { syncCrypto } from '../support/sync-crypto.ts'
import { RawClient12 } from '../support/tls12-raw-client.ts'

type Client = RawClient | RawClient12

/** By the Secrets that keep them: the engine's, and those of the client, which nobody erases. */
const made = new Map<Secrets, Uint8Array[]>()
/** What the provider gave away: shared secrets, and whether its key pairs were erased. */
let shared: Uint8Array[] = []
let pairs: { erased: boolean }[] = []

beforeEach(() => {
  made.clear()
  shared = []
  pairs = []
  const { add } = Secrets.prototype
  vi.spyOn(Secrets.prototype, 'add').mockImplementation(function (this: Secrets, secret) {
    const { bytes } = secret as unknown as { bytes: Uint8Array }
    if (secret instanceof Secret) made.set(this, [...(made.get(this) ?? []), bytes])
    add.call(this, secret)
  })
  vi.spyOn(Secrets.prototype, 'erase')
})
afterEach(() => void vi.restoreAllMocks())

const watched: CryptoProvider = {
  ...syncCrypto,
  agree: async (group, peer) => {
    const agreed = await syncCrypto.agree(group, peer)
    shared.push(agreed.sharedSecret)
    return agreed
  },
  keyPair: async (group) => {
    const own = await syncCrypto.keyPair(group)
    const pair = { erased: false }
    pairs.push(pair)
    return {
      keyExchange: own.keyExchange,
      agree: async (peer) => {
        const secret = await own.agree(peer)
        shared.push(secret)
        return secret
      },
      erase: () => {
        pair.erased = true
      },
    }
  },
}

const config: ServerConfig = {
  ...makeIdentity('ec').tls12,
  alpn: [],
  crypto: watched,
}

/** Of the engine's connection, which must be over. */
function secretsMade(): Uint8Array[] {
  const engines = vi.mocked(Secrets.prototype.erase).mock.contexts as Secrets[]
  expect(engines).toHaveLength(1)
  return made.get(engines[0]!) ?? []
}

const isErased = (bytes: Uint8Array) => bytes.every((byte) => byte === 0)

async function expectErased(client: Client, count: number): Promise<void> {
  await until(() => client.closed)
  const secrets = secretsMade()
  expect(secrets).toHaveLength(count)
  expect(secrets.every(isErased)).toBe(true)
  expect(shared.every(isErased)).toBe(true)
  expect(pairs.every(({ erased }) => erased)).toBe(true)
}

const ENDS: [string, (client: Client) => void][] = [
  ['aborts', ({ server }) => server.abort()],
  ['loses its client', ({ server }) => server.receiveEnd()],
]

describe.each(ENDS)('a server that %s', (_, end) => {
  test('§7.1 when the whole flight was sent', async () => {
    const client = await RawClient.greet(config)
    end(client)
    // Early, Handshake, both its traffic secrets, Master, both traffic secrets, exporter.
    await expectErased(client, 8)
  })

  test('§7.1 while the signature is awaited', async () => {
    let asked = false
    const sign = () => {
      asked = true
      return new Promise<Uint8Array>(() => {})
    }
    const client = new RawClient({ ...config, sign })
    client.sendHello()
    await until(() => asked)
    end(client)
    await expectErased(client, 5)
    expect(shared).toHaveLength(1)
  })

  test('§7.1 after the handshake', async () => {
    const client = await new RawClient(config).connect()
    client.sendKeyUpdate(1)
    await until(() => client.messages.includes(24))
    end(client)
    // Also the resumption secret, and the next one of each direction.
    await expectErased(client, 11)
  })

  test('RFC 5246 §8.1 while the signature is awaited', async () => {
    let asked = false
    const signTls12 = () => {
      asked = true
      return new Promise<Uint8Array>(() => {})
    }
    const client = new RawClient12({ ...config, signTls12 })
    client.sendHello()
    await until(() => asked)
    end(client)
    await expectErased(client, 0)
    expect(pairs).toHaveLength(1)
  })

  test('RFC 5246 §8.1 before the Finished', async () => {
    const client = await RawClient12.greet(config)
    client.sendClientKeyExchange()
    await until(() => shared.length === 1)
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
    end(client)
    await expectErased(client, 2)
  })

  test('RFC 5246 §8.1 after the handshake', async () => {
    const client = await new RawClient12(config).connect()
    end(client)
    await expectErased(client, 2)
  })
})

test('a wrong Finished', async () => {
  const client = await RawClient.greet(config)
  client.send(TYPE.handshake, hex(`14000020${'00'.repeat(32)}`))
  await expectErased(client, 8)
  expect(client.error).toMatchObject({ code: 'decrypt_error' })
})

test('a handshake that learns late that it is over makes no new secrets', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const agree: CryptoProvider['agree'] = async (group, peer) => {
    const agreed = await watched.agree(group, peer)
    await promise
    return agreed
  }
  const client = new RawClient({ ...config, crypto: { ...watched, agree } })
  client.sendHello()
  await until(() => shared.length === 1)
  client.server.abort()
  resolve()
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve))
  // Early, and Handshake, which was erased as it came.
  await expectErased(client, 2)
  expect(client.error).toMatchObject({ code: 'aborted' })
})
