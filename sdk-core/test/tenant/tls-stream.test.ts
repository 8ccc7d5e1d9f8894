// TLS over a stream whose other end is Node's TLS client: plaintext both ways, ends, and bounds on what waits.

import { createHash, createPrivateKey, sign, X509Certificate } from 'node:crypto'
import { type Duplex, duplexPair } from 'node:stream'
import { connect, type TLSSocket } from 'node:tls'
import type { SignRequest } from '@svc/tls'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ByteStream } from '../../src/bytes/byte-stream.ts'
import {
  CARRIER_LINGER_MS,
  CIPHERTEXT_WAITING_MAX_BYTES,
  FREED_MIN_BYTES,
  PLAINTEXT_WAITING_MAX_BYTES,
  TlsStream,
} from '../../src/tenant/tls-stream.ts'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../support/certificate.ts'
import { FedStream } from '../support/memory.ts'

const key = createPrivateKey(PRIVATE_KEY_PEM)
const config = {
  certificateChain: [Uint8Array.from(new X509Certificate(CERTIFICATE_PEM).raw)],
  algorithm: 'ECDSA_SHA256' as const,
  alpn: ['http/1.1'],
  sign: async (request: SignRequest) => {
    const { clientHello, serverHello, encryptedExtensions, certificate } = request
    const hash = createHash('sha256')
    for (const message of [clientHello, serverHello, encryptedExtensions, certificate]) hash.update(message)
    const context = Buffer.from(`${' '.repeat(64)}TLS 1.3, server CertificateVerify\0`)
    return Uint8Array.from(sign('sha256', Buffer.concat([context, hash.digest()]), key))
  },
}

/** A reverse stream over a Node duplex, in chunks of at most 16 KiB, that counts what is taken and can hold writes. */
class DuplexStream implements ByteStream {
  /** Set, it writes copies, and keeps what it got. */
  copies = false
  readonly got: Uint8Array[] = []
  taken = 0
  hold: Promise<void> | undefined
  ended = false
  aborted = false
  #duplex: Duplex
  #chunks: AsyncIterator<Buffer>
  #rest: Uint8Array = new Uint8Array()

  constructor(duplex: Duplex) {
    this.#duplex = duplex
    this.#chunks = duplex[Symbol.asyncIterator]()
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next()
      if (done) return undefined
      this.#rest = value
    }
    const chunk = Uint8Array.from(this.#rest.subarray(0, 16_384))
    this.#rest = this.#rest.subarray(chunk.length)
    this.taken += chunk.length
    return chunk
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.hold
    this.#duplex.write(this.copies ? Buffer.from(bytes) : bytes)
    if (bytes.length >= FREED_MIN_BYTES) this.got.push(bytes)
  }

  async end(): Promise<void> {
    this.ended = true
    this.#duplex.end()
  }

  abort(): void {
    this.aborted = true
    this.#duplex.destroy()
  }
}

function open(): { tls: TlsStream; carrier: DuplexStream; client: TLSSocket } {
  const [near, far] = duplexPair()
  const carrier = new DuplexStream(near)
  const tls = new TlsStream(carrier, config)
  const client = connect({
    socket: far,
    servername: 'demo.relay.localhost',
    ca: CERTIFICATE_PEM,
    ALPNProtocols: ['h2', 'http/1.1'],
    ciphers: 'TLS_AES_128_GCM_SHA256',
  })
  client.on('error', () => {})
  return { tls, carrier, client }
}

afterEach(() => vi.useRealTimers())
const soon = (ms = 100): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('a connection', () => {
  it('carries plaintext both ways and ends in order', async () => {
    const { tls, carrier, client } = open()
    await tls.secure
    client.write('ping')
    expect(await tls.read()).toEqual(Uint8Array.from(Buffer.from('ping')))
    const got = new Promise((resolve) => client.once('data', resolve))
    await tls.write(Buffer.from('pong'))
    expect(await got).toEqual(Buffer.from('pong'))
    expect(client.alpnProtocol).toBe('http/1.1')
    const ended = new Promise((resolve) => client.once('end', resolve))
    client.resume()
    await tls.end()
    await ended
    client.end()
    expect(await tls.read()).toBeUndefined()
    expect([carrier.ended, carrier.aborted]).toEqual([true, false])
  })

  it('gives what came before the visitor ended, then the end', async () => {
    const { tls, client } = open()
    await tls.secure
    client.end('last')
    expect(await tls.read()).toEqual(Uint8Array.from(Buffer.from('last')))
    expect(await tls.read()).toBeUndefined()
    expect(await tls.read()).toBeUndefined()
  })

  it('that is cut off without close_notify fails its reader (RFC 8446 §6.1)', async () => {
    const { tls, client } = open()
    await tls.secure
    const read = tls.read()
    client.destroy()
    await expect(read).rejects.toMatchObject({ code: 'truncated' })
    await expect(tls.write(Uint8Array.of(1))).rejects.toThrow()
  })

  it('that is aborted tells the visitor with an alert', async () => {
    const { tls, client } = open()
    await tls.secure
    await soon(10)
    const error = new Promise<Error>((resolve) => client.once('error', resolve))
    tls.abort(new Error('enough'))
    expect((await error).message).toMatch(/alert internal error/i)
    await expect(tls.read()).rejects.toThrow('enough')
  })

  it('that never was TLS fails, with an alert, and ends', async () => {
    const carrier = new FedStream().feed(Buffer.from('GET / HTTP/1.1\r\n\r\n')).finish()
    const tls = new TlsStream(carrier, config)
    await expect(tls.secure).rejects.toThrow()
    await vi.waitFor(() => expect(carrier.ended).toBe(true))
    expect(carrier.written[0]?.[0]).toBe(21)
  })

  it('of a stream that breaks fails', async () => {
    const carrier = new FedStream()
    const tls = new TlsStream(carrier, config)
    carrier.abort()
    await expect(tls.secure).rejects.toThrow()
  })
})

describe('bounds', () => {
  it('no ciphertext is read while PLAINTEXT_WAITING_MAX_BYTES wait unread', async () => {
    const { tls, carrier, client } = open()
    await tls.secure
    const total = PLAINTEXT_WAITING_MAX_BYTES * 8
    client.write(Buffer.alloc(total, 7))
    await soon()
    expect(carrier.taken).toBeLessThan(PLAINTEXT_WAITING_MAX_BYTES * 2)
    let read = 0
    while (read < total) read += (await tls.read())!.length
    expect(read).toBe(total)
    client.destroy()
  })

  it('writing pauses while the carrier has not taken CIPHERTEXT_WAITING_MAX_BYTES', async () => {
    const { tls, carrier, client } = open()
    await tls.secure
    await soon(10)
    const gate = Promise.withResolvers<void>()
    carrier.hold = gate.promise
    let written = 0
    const writing = (async () => {
      while (written < CIPHERTEXT_WAITING_MAX_BYTES * 8) {
        await tls.write(new Uint8Array(16_384))
        written += 16_384
      }
    })()
    await soon()
    expect(written).toBeLessThanOrEqual(CIPHERTEXT_WAITING_MAX_BYTES)
    gate.resolve()
    client.resume()
    await writing
    client.destroy()
  })

  it('gives the memory of sent ciphertext back at once where the carrier copies, and nowhere else', async () => {
    for (const copies of [true, false]) {
      const { tls, carrier, client } = open()
      carrier.copies = copies
      await tls.secure
      const plaintext = Uint8Array.from({ length: 16 * FREED_MIN_BYTES }, (_, at) => at % 251)
      const received: Buffer[] = []
      client.on('data', (bytes: Buffer) => received.push(bytes))
      await tls.write(plaintext)
      await vi.waitFor(() => expect(Buffer.concat(received)).toEqual(Buffer.from(plaintext)))
      expect(carrier.got.length).toBeGreaterThan(0)
      expect(carrier.got.every(({ buffer }) => (buffer as ArrayBuffer).detached)).toBe(copies)
      expect(plaintext).toHaveLength(16 * FREED_MIN_BYTES)
      client.destroy()
    }
  })

  it('a visitor that never ends its side is dropped after CARRIER_LINGER_MS', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const carrier = new FedStream().feed(Buffer.from('GET / HTTP/1.1\r\n\r\n'))
    const tls = new TlsStream(carrier, config)
    await expect(tls.secure).rejects.toThrow()
    await vi.advanceTimersByTimeAsync(CARRIER_LINGER_MS - 1)
    expect(carrier.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(carrier.aborted).toBe(true)
  })
})
