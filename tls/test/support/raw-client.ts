// A TLS 1.3 client that does what a test tells it, right or wrong, to an engine in the same process.

import { createECDH, generateKeyPairSync } from 'node:crypto'
import { HASH } from '../../src/crypto/hash.ts'
import {
  type ApplicationTrafficSecret,
  EarlySecret,
  type HandshakeTrafficSecret,
  type MasterSecret,
  type ResumptionSecret,
} from '../../src/crypto/key-schedule.ts'
import { Secrets } from '../../src/crypto/secrets.ts'
import { TranscriptHash } from '../../src/crypto/transcript-hash.ts'
import { type ConnectionInfo, type ServerConfig, type TlsError, TlsServer } from '../../src/index.ts'
import { MessageAssembler } from '../../src/messages/assembler.ts'
import { parseServerHello, suiteHash } from '../../src/messages/index.ts'
import { concat, handshakeMessage } from '../../src/messages/writer.ts'
import { ciphertextHeader, Tls13Protection } from '../../src/record/protection.ts'
import { RecordReader } from '../../src/record/record-reader.ts'
import { buildClientHello, ext, type HelloFields, records } from './client-hello-builder.ts'
import { syncCrypto, x25519 } from './sync-crypto.ts'

export const TYPE = { ccs: 20, alert: 21, handshake: 22, data: 23 } as const

export class RawClient {
  readonly server: TlsServer
  /** Descriptions of the alerts that came, protected or not. */
  readonly alerts: number[] = []
  /** Types of handshake messages, in order. */
  readonly messages: number[] = []
  readonly tickets: Uint8Array[] = []
  certificate: Uint8Array | undefined
  /** What the engine's events said. */
  readonly serverData: Uint8Array[] = []
  /** Sizes of the contents of the protected records that came. */
  readonly recordSizes: number[] = []
  info: ConnectionInfo | undefined
  /** Does not read what it is sent: its hello may be none of its own making. */
  deaf = false
  ended = false
  closed = false
  error: TlsError | undefined
  received: Uint8Array = new Uint8Array()
  resumption: ResumptionSecret | undefined
  suite = 0
  sessionIdEcho: Uint8Array | undefined
  onRecord: ((type: number) => void) | undefined
  psk: Uint8Array | undefined
  serverProtection: Tls13Protection | undefined
  protection: Tls13Protection | undefined

  readonly #x25519 = generateKeyPairSync('x25519')
  readonly #p256 = createECDH('prime256v1')
  readonly #reader = new RecordReader()
  readonly #assembler = new MessageAssembler()
  #hellos: Uint8Array[] = []
  #transcript: TranscriptHash | undefined
  #clientHandshake: HandshakeTrafficSecret | undefined
  #serverHandshake: HandshakeTrafficSecret | undefined
  #master: MasterSecret | undefined
  #clientTraffic: ApplicationTrafficSecret | undefined
  #serverTraffic: ApplicationTrafficSecret | undefined

  constructor(config: ServerConfig) {
    this.#p256.generateKeys()
    this.server = new TlsServer(config, {
      send: (bytes) => this.#receive(bytes),
      secure: (info) => {
        this.info = info
      },
      data: (bytes) => this.serverData.push(bytes),
      end: () => {
        this.ended = true
      },
      close: (error) => {
        if (this.closed) throw new Error('close was called twice')
        this.closed = true
        this.error = error
      },
    })
  }

  /** Sends its hello to an engine, and waits for what that sends at once. */
  static async greet(config: ServerConfig): Promise<RawClient> {
    const client = new RawClient(config)
    client.sendHello()
    await client.flight()
    return client
  }

  get x25519Share(): [number, Uint8Array] {
    const { x } = this.#x25519.publicKey.export({ format: 'jwk' })
    return [0x001d, new Uint8Array(Buffer.from(x!, 'base64url'))]
  }

  get p256Share(): [number, Uint8Array] {
    return [0x0017, new Uint8Array(this.#p256.getPublicKey())]
  }

  /** The extensions of a good hello, with those of the same type replaced and others added. */
  extensions(...changed: [number, Uint8Array][]): [number, Uint8Array][] {
    const usual: [number, Uint8Array][] = [
      ext.serverName('localhost'),
      ext.supportedVersions(0x0304),
      ext.supportedGroups(0x001d, 0x0017),
      ext.signatureAlgorithms(0x0403, 0x0804, 0x0807),
      ext.pskModes(1),
      ext.keyShare(this.x25519Share),
    ]
    const replaced = usual.map(([type, body]) => changed.find(([t]) => t === type) ?? [type, body])
    return [...(replaced as typeof usual), ...changed.filter(([t]) => !usual.some(([u]) => u === t))]
  }

  hello(fields: HelloFields = {}): Uint8Array {
    return buildClientHello({ extensions: this.extensions(), ...fields })
  }

  /** A hello with these extensions changed or added. */
  helloWith(...changed: [number, Uint8Array][]): Uint8Array {
    return this.hello({ extensions: this.extensions(...changed) })
  }

  sendHello(hello: Uint8Array = this.hello(), fragment?: number): void {
    this.#hellos.push(hello)
    this.#transcript?.add(hello)
    this.raw(records(TYPE.handshake, hello, fragment))
  }

  raw(bytes: Uint8Array): void {
    void this.server.receive(bytes)
  }

  /** A record under the current key, or a plaintext one before there is a key. */
  record(type: number, content: Uint8Array, padding = 0): Uint8Array {
    if (this.protection === undefined)
      return concat(Uint8Array.of(type, 3, 3, content.length >> 8, content.length), content)
    const padded = concat(content, Uint8Array.of(type), new Uint8Array(padding))
    // `seal` appends a type byte itself: the last byte of what we made.
    const last = padded.at(-1)!
    const inner = { type: last, content: padded.subarray(0, -1) }
    const header = ciphertextHeader(inner.content.length)
    return concat(header, this.protection.seal(header, inner) as Uint8Array)
  }

  send(type: number, content: Uint8Array, padding = 0): void {
    this.raw(this.record(type, content, padding))
  }

  finished(): Uint8Array {
    return handshakeMessage(20, this.#clientHandshake!.verifyData(this.#transcript!.digest()))
  }

  /** The Transcript-Hash of the messages so far. */
  transcriptHash(): Uint8Array {
    return this.#transcript!.digest()
  }

  /** Sends a handshake message, which the Finished then covers. */
  sendMessage(message: Uint8Array): void {
    this.send(TYPE.handshake, message)
    this.#transcript!.add(message)
  }

  /** Sends the Finished, and from there on uses the application keys. */
  sendFinished(message: Uint8Array = this.finished()): void {
    this.send(TYPE.handshake, message)
    this.#transcript!.add(message)
    this.resumption = this.#master!.resumption(this.#transcript!.digest())
    this.protection = new Tls13Protection(syncCrypto, this.suite, this.#clientTraffic!)
  }

  /** A whole handshake, up to `secure`. */
  async connect(hello?: Uint8Array): Promise<this> {
    this.sendHello(hello)
    await this.flight()
    this.sendFinished()
    await until(() => this.info !== undefined || this.closed)
    return this
  }

  /** The server's Finished has come. */
  async flight(): Promise<void> {
    await until(() => this.messages.includes(20) || this.closed)
  }

  sendKeyUpdate(request = 0): void {
    this.send(TYPE.handshake, Uint8Array.of(24, 0, 0, 1, request))
    this.#clientTraffic = this.#clientTraffic!.next()
    this.protection = new Tls13Protection(syncCrypto, this.suite, this.#clientTraffic)
  }

  async over(): Promise<void> {
    await until(() => this.closed)
  }

  #receive(bytes: Uint8Array): void {
    if (this.deaf) return
    this.#reader.push(bytes)
    for (let record = this.#reader.shift(); record !== undefined; record = this.#reader.shift()) {
      this.onRecord?.(record.type)
      if (record.type === TYPE.ccs) continue
      if (record.type !== TYPE.data) this.#content(record.type, record.fragment)
      else {
        const inner = this.serverProtection!.open(record) as Uint8Array
        this.recordSizes.push(inner.length)
        this.#content(inner.at(-1)!, inner.subarray(0, -1))
      }
    }
  }

  #content(type: number, content: Uint8Array): void {
    if (type === TYPE.alert) this.alerts.push(content[1]!)
    else if (type === TYPE.data) this.received = concat(this.received, content)
    else this.#assembler.push(content)
    for (let m = this.#assembler.shift(2 ** 20); m !== undefined; m = this.#assembler.shift(2 ** 20))
      this.#message(m)
  }

  #message(message: Uint8Array): void {
    const type = message[0]!
    this.messages.push(type)
    if (type === 11) this.certificate = message
    if (type === 4) this.tickets.push(message)
    else if (type === 24) {
      this.#serverTraffic = this.#serverTraffic!.next()
      this.serverProtection = new Tls13Protection(syncCrypto, this.suite, this.#serverTraffic)
    } else if (type === 2) this.#serverHello(message)
    else if (type === 20) this.#serverFinished(message)
    else this.#transcript!.add(message)
  }

  #serverHello(message: Uint8Array): void {
    const hello = parseServerHello(message)
    this.suite = hello.cipherSuite
    this.sessionIdEcho = hello.sessionId
    const hash = HASH[suiteHash(this.suite)!]
    if (this.#transcript === undefined) {
      this.#transcript = new TranscriptHash(hash)
      this.#transcript.add(this.#hellos[0]!)
    }
    if (hello.isHelloRetryRequest) this.#transcript.retry()
    this.#transcript.add(message)
    if (hello.isHelloRetryRequest) return
    const share = hello.extensions.get(51)!
    const peer = share.subarray(4)
    const sharedSecret =
      share[1] === 0x1d
        ? x25519(this.#x25519.privateKey, peer)
        : new Uint8Array(this.#p256.computeSecret(peer))
    const psk = hello.extensions.has(41) ? this.psk?.slice() : undefined
    const handshakeSecret = new EarlySecret(hash, psk, new Secrets()).handshake(sharedSecret)
    this.#clientHandshake = handshakeSecret.clientTraffic(this.#transcript.digest())
    this.#serverHandshake = handshakeSecret.serverTraffic(this.#transcript.digest())
    this.#master = handshakeSecret.master()
    this.protection = new Tls13Protection(syncCrypto, this.suite, this.#clientHandshake)
    this.serverProtection = new Tls13Protection(syncCrypto, this.suite, this.#serverHandshake)
  }

  #serverFinished(message: Uint8Array): void {
    const expected = this.#serverHandshake!.verifyData(this.#transcript!.digest())
    if (message.subarray(4).join() !== expected.join())
      throw new Error("the server's Finished does not verify")
    this.#transcript!.add(message)
    const hash = this.#transcript!.digest()
    this.#clientTraffic = this.#master!.clientTraffic(hash)
    this.#serverTraffic = this.#master!.serverTraffic(hash)
    this.serverProtection = new Tls13Protection(syncCrypto, this.suite, this.#serverTraffic)
  }
}

/** Milliseconds after which a condition does not come true any more, however slow the machine is. */
const NEVER_MS = 20_000

/** Lets the engine's promises run. */
export async function until(condition: () => boolean): Promise<void> {
  const start = performance.now()
  while (!condition()) {
    if (performance.now() - start > NEVER_MS) throw new Error(`still waiting for ${condition}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
