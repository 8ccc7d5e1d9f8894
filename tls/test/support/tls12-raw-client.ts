// A TLS 1.2 client that does what a test tells it, right or wrong, to an engine in the same process.

import { generateKeyPairSync } from 'node:crypto'
import { HASH } from '../../src/crypto/hash.ts'
import { Secrets } from '../../src/crypto/secrets.ts'
import { TranscriptHash } from '../../src/crypto/transcript-hash.ts'
import { type ConnectionInfo, type ServerConfig, type TlsError, TlsServer } from '../../src/index.ts'
import { MessageAssembler } from '../../src/messages/assembler.ts'
import { parseServerHello } from '../../src/messages/index.ts'
import { concat, handshakeMessage, vector } from '../../src/messages/writer.ts'
import type { RecordProtection } from '../../src/record/protection.ts'
import { RecordReader } from '../../src/record/record-reader.ts'
import { SUITES, type Suite } from '../../src/tls12/cipher-suites.ts'
import { type MasterSecret, PreMasterSecret } from '../../src/tls12/key-schedule.ts'
import { Tls12Protection } from '../../src/tls12/protection.ts'
import { buildClientHello, ext, type HelloFields, records } from './client-hello-builder.ts'
import { until } from './raw-client.ts'
import { syncCrypto, x25519 } from './sync-crypto.ts'

export const TYPE = { ccs: 20, alert: 21, handshake: 22, data: 23 } as const

const RANDOM = new Uint8Array(32).fill(0x5a)

export const ext12 = {
  extendedMasterSecret: [23, new Uint8Array()] as [number, Uint8Array],
  renegotiationInfo: [0xff01, Uint8Array.of(0)] as [number, Uint8Array],
  pointFormats: (...formats: number[]): [number, Uint8Array] => [11, vector(1, Uint8Array.from(formats))],
}

export class RawClient12 {
  readonly server: TlsServer
  /** Level and description of each alert that came, protected or not. */
  readonly alerts: [level: number, description: number][] = []
  /** Types of handshake messages, in order; 'ccs' for a change_cipher_spec. */
  readonly messages: (number | 'ccs')[] = []
  readonly serverData: Uint8Array[] = []
  info: ConnectionInfo | undefined
  ended = false
  closed = false
  error: TlsError | undefined
  /** Does not read what it is sent: its hello may be none of its own making. */
  deaf = false
  received: Uint8Array = new Uint8Array()
  /** Contents of the records of data that came. */
  readonly recordSizes: number[] = []
  serverHello: ReturnType<typeof parseServerHello> | undefined
  /** The whole message. */
  certificate: Uint8Array | undefined
  protection: RecordProtection | undefined
  serverProtection: RecordProtection | undefined

  readonly #x25519 = generateKeyPairSync('x25519')
  readonly #reader = new RecordReader()
  readonly #assembler = new MessageAssembler()
  #hello: Uint8Array = new Uint8Array()
  #extendedMasterSecret = false
  #transcript: TranscriptHash | undefined
  #suite: Suite | undefined
  #serverShare: Uint8Array | undefined
  #master: MasterSecret | undefined

  constructor(config: ServerConfig) {
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
  static async greet(config: ServerConfig): Promise<RawClient12> {
    const client = new RawClient12(config)
    client.sendHello()
    await client.flight()
    return client
  }

  get #randoms() {
    return { client: RANDOM, server: this.serverHello!.random }
  }

  extensions(...changed: [number, Uint8Array][]): [number, Uint8Array][] {
    const usual: [number, Uint8Array][] = [
      ext.serverName('localhost'),
      ext.supportedGroups(0x001d, 0x0017),
      ext.signatureAlgorithms(0x0403, 0x0804, 0x0807),
      ext12.pointFormats(0),
      ext12.extendedMasterSecret,
      ext12.renegotiationInfo,
    ]
    const replaced = usual.map(([type, body]) => changed.find(([t]) => t === type) ?? [type, body])
    return [...(replaced as typeof usual), ...changed.filter(([t]) => !usual.some(([u]) => u === t))]
  }

  hello(fields: HelloFields = {}): Uint8Array {
    return buildClientHello({
      random: RANDOM,
      cipherSuites: [0xc02b, 0xc02f],
      extensions: this.extensions(),
      ...fields,
    })
  }

  helloWith(...changed: [number, Uint8Array][]): Uint8Array {
    return this.hello({ extensions: this.extensions(...changed) })
  }

  helloWithout(...types: number[]): Uint8Array {
    return this.hello({ extensions: this.extensions().filter(([type]) => !types.includes(type)) })
  }

  sendHello(hello: Uint8Array = this.hello()): void {
    this.#hello = hello
    this.raw(records(TYPE.handshake, hello))
  }

  /** ServerHelloDone has come. */
  async flight(): Promise<void> {
    await until(() => this.messages.includes(14) || this.closed)
  }

  clientKeyExchange(): Uint8Array {
    const { x } = this.#x25519.publicKey.export({ format: 'jwk' })
    return handshakeMessage(16, vector(1, new Uint8Array(Buffer.from(x!, 'base64url'))))
  }

  sendClientKeyExchange(message: Uint8Array = this.clientKeyExchange(), fragment?: number): void {
    this.#transcript!.add(message)
    this.raw(records(TYPE.handshake, message, fragment))
    const hash = HASH[this.#suite!.hash]
    const shared = x25519(this.#x25519.privateKey, this.#serverShare!)
    const preMaster = new PreMasterSecret(shared, new Secrets())
    this.#master = this.#extendedMasterSecret
      ? preMaster.extendedMaster(hash, this.#transcript!.digest())
      : preMaster.master(hash, this.#randoms)
  }

  /** Sends a handshake message, which the Finished then covers. */
  sendMessage(message: Uint8Array): void {
    this.#transcript!.add(message)
    this.send(TYPE.handshake, message)
  }

  /** From here on what is sent is protected. */
  sendChangeCipherSpec(content: Uint8Array = Uint8Array.of(1)): void {
    this.send(TYPE.ccs, content)
    const keys = this.#master!.keys(this.#suite!, this.#randoms)
    this.protection = new Tls12Protection(syncCrypto, this.#suite!, keys.client, 2 ** 24)
    this.serverProtection = new Tls12Protection(syncCrypto, this.#suite!, keys.server, 2 ** 24)
  }

  finished(): Uint8Array {
    return handshakeMessage(20, this.#master!.verifyData('client', this.#transcript!.digest()))
  }

  sendFinished(message: Uint8Array = this.finished(), fragment: number = message.length): void {
    this.#transcript!.add(message)
    for (let at = 0; at < message.length; at += fragment)
      this.send(TYPE.handshake, message.subarray(at, at + fragment))
  }

  /** A whole handshake, up to `secure`. */
  async connect(hello?: Uint8Array): Promise<this> {
    this.sendHello(hello)
    await this.flight()
    if (this.closed) return this
    this.sendClientKeyExchange()
    this.sendChangeCipherSpec()
    this.sendFinished()
    await until(() => (this.info !== undefined && this.messages.includes(20)) || this.closed)
    return this
  }

  exportKeyingMaterial(label: string, context: Uint8Array | undefined, length: number): Uint8Array {
    return this.#master!.exporter(this.#randoms).export(label, context, length)
  }

  /** A record under the current key, or a plaintext one before there is a key. */
  record(type: number, content: Uint8Array): Uint8Array {
    if (this.protection === undefined)
      return concat(Uint8Array.of(type, 3, 3, content.length >> 8, content.length), content)
    const header = this.protection.header({ type, content })
    return concat(header, this.protection.seal(header, { type, content }) as Uint8Array)
  }

  send(type: number, content: Uint8Array): void {
    this.raw(this.record(type, content))
  }

  raw(bytes: Uint8Array): void {
    void this.server.receive(bytes)
  }

  async over(): Promise<void> {
    await until(() => this.closed)
  }

  #receive(bytes: Uint8Array): void {
    if (this.deaf) return
    this.#reader.push(bytes)
    for (let record = this.#reader.shift(); record !== undefined; record = this.#reader.shift()) {
      if (record.type === TYPE.ccs) this.messages.push('ccs')
      else if (!this.messages.includes('ccs')) this.#content(record.type, record.fragment)
      else this.#content(record.type, this.serverProtection!.open(record) as Uint8Array)
    }
  }

  #content(type: number, content: Uint8Array): void {
    if (type === TYPE.alert) this.alerts.push([content[0]!, content[1]!])
    else if (type === TYPE.data) {
      this.received = concat(this.received, content)
      this.recordSizes.push(content.length)
    } else this.#assembler.push(content)
    for (let m = this.#assembler.shift(2 ** 20); m !== undefined; m = this.#assembler.shift(2 ** 20))
      this.#message(m)
  }

  #message(message: Uint8Array): void {
    const [type] = message
    this.messages.push(type!)
    if (type === 2) this.#readServerHello(message)
    if (type === 11) this.certificate = message
    if (type === 12) this.#serverShare = message.subarray(8, 8 + message[7]!)
    if (type === 20) {
      const expected = this.#master!.verifyData('server', this.#transcript!.digest())
      if (message.subarray(4).join() !== expected.join())
        throw new Error("the server's Finished does not verify")
    }
    this.#transcript!.add(message)
  }

  #readServerHello(message: Uint8Array): void {
    this.serverHello = parseServerHello(message)
    const { cipherSuite, extensions } = this.serverHello
    this.#extendedMasterSecret = extensions.has(23)
    this.#suite = Object.values(SUITES)
      .flat()
      .find(({ id }) => id === cipherSuite)!
    this.#transcript = new TranscriptHash(HASH[this.#suite.hash])
    this.#transcript.add(this.#hello)
  }
}
