// The engine in a page; bench/tls/browser.ts calls it there.
import { type SignRequest, TlsServer } from '@svc/tls'
import { CIPHER_SUITE } from '@svc/tls/messages'
import { type FlightConfig, flight, flightLength } from './flight.ts'

interface TlsPage {
  /** Handshakes up to the server's whole flight. */
  flights(certificate: string, clientHello: string, count: number): Promise<void>
  /** Starts a connection, whose bytes go to `toClient`. */
  accept(certificate: string): void
  receive(bytes: string): void
  /** Settles when the connection of `accept` is there. */
  secure(): Promise<void>
  /** Seals `records` full records on it, and drops them; @returns seconds */
  seal(records: number): Promise<number>
  /** Encrypts as many with WebCrypto alone; @returns seconds */
  encrypt(records: number): Promise<number>
}

export interface SignedMessages {
  clientHello: string
  serverHello: string
  encryptedExtensions: string
  certificate: string
}

declare global {
  var bench: TlsPage
  /** These two are the Node side's. */
  var toClient: (bytes: string) => void
  var sign: (messages: SignedMessages) => Promise<string>
}

const RECORD_BYTES: number = 2 ** 14
/** Records that both sides have in work at a time. */
const IN_FLIGHT = 16
const BATCH: Uint8Array = new Uint8Array(RECORD_BYTES * IN_FLIGHT).fill(7)
/** TLSInnerPlaintext (RFC 8446 §5.2): the content and its type. */
const INNER: Uint8Array<ArrayBuffer> = new Uint8Array(RECORD_BYTES + 1).fill(7)

let tls: TlsServer
let secure = Promise.withResolvers<void>()
let handshaking = true
let keyBits = 128
const lengths: Record<string, number> = {}

globalThis.bench = {
  flights: async (certificate, clientHello, count) => {
    const [config, pieces] = [configOf(certificate), [decode(clientHello)]]
    lengths[clientHello] ??= await flightLength(config, pieces)
    for (let i = 0; i < count; i++) await flight(config, pieces, lengths[clientHello])
  },
  accept: (certificate) => {
    handshaking = true
    secure = Promise.withResolvers()
    tls = new TlsServer(
      { ...configOf(certificate), sign: signAtNode },
      {
        send: (bytes) => handshaking && globalThis.toClient(encode(bytes)),
        secure: ({ cipherSuite }) => {
          keyBits = cipherSuite === CIPHER_SUITE.TLS_AES_256_GCM_SHA384 ? 256 : 128
          secure.resolve()
        },
        data: () => {},
        end: () => {},
        close: (error) => secure.reject(error),
      },
    )
  },
  receive: (bytes) => void tls.receive(decode(bytes)),
  secure: () => secure.promise,
  seal: (records) => {
    handshaking = false
    return seconds(async () => {
      for (let done = 0; done < records; done += IN_FLIGHT) await tls.write(BATCH)
    })
  },
  encrypt: async (records) => {
    const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: keyBits }, false, ['encrypt'])
    const iv = new Uint8Array(12)
    const additionalData = new Uint8Array(5)
    const one = (): Promise<ArrayBuffer> =>
      crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData }, key, INNER)
    return seconds(async () => {
      for (let done = 0; done < records; done += IN_FLIGHT)
        await Promise.all(Array.from({ length: IN_FLIGHT }, one))
    })
  },
}

async function signAtNode(request: SignRequest): Promise<Uint8Array> {
  const signature = await globalThis.sign({
    clientHello: encode(request.clientHello),
    serverHello: encode(request.serverHello),
    encryptedExtensions: encode(request.encryptedExtensions),
    certificate: encode(request.certificate),
  })
  return decode(signature)
}

function configOf(certificate: string): FlightConfig {
  return { certificateChain: [decode(certificate)], algorithm: 'ECDSA_SHA256', alpn: [] }
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

function decode(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
