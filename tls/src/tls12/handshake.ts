// The server's handshake of TLS 1.2, in the order of RFC 5246 §7.3, figure 1: read this file alongside §7.4.

import { SCHEME_OF } from '../certificate/leaf.ts'
import type { ConnectionInfo, Settings, Tls12Settings } from '../config.ts'
import { equalInConstantTime } from '../crypto/constant-time.ts'
import { hashOf } from '../crypto/hash.ts'
import type { Secrets } from '../crypto/secrets.ts'
import { TranscriptHash } from '../crypto/transcript-hash.ts'
import { violation } from '../errors.ts'
import type { Channel } from '../handshake/channel.ts'
import type { HandshakeResult } from '../handshake/handshake-result.ts'
import { requireKeyExchange } from '../handshake/negotiate.ts'
import { requestSignature } from '../handshake/signer.ts'
import type { ClientHello } from '../messages/client-hello.ts'
import {
  EXTENSION,
  HANDSHAKE_HEADER_BYTES,
  HANDSHAKE_TYPE,
  RECORD_FRAGMENT_MAX_BYTES,
} from '../messages/constants.ts'
import { concat, handshakeMessage } from '../messages/writer.ts'
import type { Suite } from './cipher-suites.ts'
import { type MasterSecret, PreMasterSecret, type Randoms } from './key-schedule.ts'
import {
  encodeCertificate,
  encodeServerEcdhParams,
  encodeServerHello,
  encodeServerHelloDone,
  encodeServerKeyExchange,
  parseClientKeyExchange,
} from './messages.ts'
import { negotiate } from './negotiate.ts'
import { Tls12Protection } from './protection.ts'
import { RefusedRenegotiation } from './renegotiation.ts'

const VERSION = 'TLSv1.2' as const
const RANDOM_BYTES = 32

/** "DOWNGRD" and 1 (RFC 8446 §4.1.3): it shows a client that offered TLS 1.3 that an attacker removed the offer. */
const DOWNGRADE_SENTINEL: Uint8Array = Uint8Array.of(0x44, 0x4f, 0x57, 0x4e, 0x47, 0x52, 0x44, 1)

/** A Transcript keeps the messages, all of which a client's CertificateVerify signs (§7.4.8). */
class Transcript extends TranscriptHash {
  readonly messages: Uint8Array[] = []

  override add(...messages: Uint8Array[]): void {
    super.add(...messages)
    this.messages.push(...messages)
  }
}

/**
 * Runs the handshake from the ClientHello to the server's Finished.
 * @param leaving aborts when the client has left
 * @throws TlsError with the alert that ends the connection
 */
export async function handshake(
  hello: ClientHello,
  channel: Channel,
  settings: Tls12Settings,
  secrets: Secrets,
  leaving: AbortSignal,
): Promise<HandshakeResult> {
  const { crypto, certificateChain, clientCertificates } = settings
  channel.useTls12()
  channel.requireFlightEnd()
  const negotiated = negotiate(hello, settings)
  const { suite, group, extendedMasterSecret } = negotiated
  const hash = hashOf(crypto, suite.hash)
  const transcript = new Transcript(hash)
  transcript.add(hello.message)
  const send = (...messages: Uint8Array[]) => {
    transcript.add(...messages)
    channel.send(...messages)
  }
  if (hello.recordSizeLimit !== undefined) channel.outbound.limitRecords(hello.recordSizeLimit)

  // ServerHello (§7.4.1.3), Certificate (§7.4.2)
  const randoms = { client: hello.random, server: freshRandom(crypto) }
  send(serverHelloOf(hello, randoms.server, negotiated), encodeCertificate(certificateChain))
  channel.flush()

  // ServerKeyExchange (§7.4.3; RFC 8422 §5.4), CertificateRequest (§7.4.4), ServerHelloDone (§7.4.5)
  const own = await crypto.keyPair(group)
  secrets.add(own)
  send(await signedKeyExchange(own.keyExchange, group, randoms, settings, leaving))
  if (clientCertificates) send(clientCertificates.requestTls12)
  send(encodeServerHelloDone())
  channel.flush()

  // The client's Certificate (§7.4.6)
  const readVerify = await clientCertificates?.readTls12(channel, transcript)

  // ClientKeyExchange (§7.4.7; RFC 8422 §5.7)
  const point = await readClientKeyExchange(channel, transcript, group)
  const preMasterSecret = new PreMasterSecret(await own.agree(point), secrets)

  // Master secret (§8.1; RFC 7627 §4)
  const masterSecret = extendedMasterSecret
    ? preMasterSecret.extendedMaster(hash, transcript.digest())
    : preMasterSecret.master(hash, randoms)

  // The client's CertificateVerify (§7.4.8)
  const clientCertificate = await readVerify?.(channel, transcript, transcript.messages)

  // The client's ChangeCipherSpec (§7.1) and Finished (§7.4.9)
  await channel.readChangeCipherSpec()
  const protections = protectionsOf(masterSecret, suite, randoms, settings)
  channel.protectInbound(protections.client)
  await readFinished(channel, transcript, masterSecret)

  // The server's ChangeCipherSpec and Finished
  channel.sendChangeCipherSpec()
  channel.outbound.protect(protections.server)
  send(handshakeMessage(HANDSHAKE_TYPE.finished, masterSecret.verifyData('server', transcript.digest())))
  channel.flush()

  // Without the extension another connection may have this master secret, so nothing is exported (RFC 7627 §5.4).
  const exporter = extendedMasterSecret ? masterSecret.exporter(randoms) : undefined
  if (exporter === undefined) masterSecret.erase()
  const info = { ...infoOf(hello, negotiated), clientCertificate }
  return { info, exporter, postHandshake: new RefusedRenegotiation(channel.outbound) }
}

function infoOf(
  { serverName }: ClientHello,
  { alpn, suite, group }: ReturnType<typeof negotiate>,
): ConnectionInfo {
  return { version: VERSION, serverName, alpn, cipherSuite: suite.id, group, resumed: false }
}

/** Resolves with the signed ServerKeyExchange. */
async function signedKeyExchange(
  keyExchange: Uint8Array,
  group: number,
  { client: clientRandom, server: serverRandom }: Randoms,
  settings: Tls12Settings,
  leaving: AbortSignal,
): Promise<Uint8Array> {
  const { algorithm } = settings
  const serverEcdhParams = encodeServerEcdhParams(group, keyExchange)
  const request = { algorithm, clientRandom, serverRandom, serverEcdhParams }
  const sign = (signal: AbortSignal) => settings.signTls12(request, signal)
  const signature = await requestSignature(sign, settings.limits, leaving)
  return encodeServerKeyExchange(serverEcdhParams, SCHEME_OF[algorithm], signature)
}

function freshRandom(crypto: Settings['crypto']): Uint8Array {
  return concat(crypto.randomBytes(RANDOM_BYTES - DOWNGRADE_SENTINEL.length), DOWNGRADE_SENTINEL)
}

function serverHelloOf(
  hello: ClientHello,
  random: Uint8Array,
  { suite, alpn, extendedMasterSecret, secureRenegotiation }: ReturnType<typeof negotiate>,
): Uint8Array {
  return encodeServerHello(random, suite.id, {
    serverName: hello.serverName !== undefined,
    alpn,
    recordSizeLimit: hello.recordSizeLimit === undefined ? undefined : RECORD_FRAGMENT_MAX_BYTES,
    extendedMasterSecret,
    secureRenegotiation,
    pointFormats: hello.extensions.has(EXTENSION.ec_point_formats),
  })
}

/** Makes the protections from the key block (§6.3). */
function protectionsOf(
  masterSecret: MasterSecret,
  suite: Suite,
  randoms: Randoms,
  { crypto, limits }: Settings,
): Record<'client' | 'server', Tls12Protection> {
  const { client, server } = masterSecret.keys(suite, randoms)
  return {
    client: new Tls12Protection(crypto, suite, client, limits.recordsPerKey),
    server: new Tls12Protection(crypto, suite, server, limits.recordsPerKey),
  }
}

/** Resolves with the client's share. */
async function readClientKeyExchange(
  channel: Channel,
  transcript: TranscriptHash,
  group: number,
): Promise<Uint8Array> {
  const message = await channel.read(HANDSHAKE_TYPE.client_key_exchange)
  transcript.add(message)
  const point = parseClientKeyExchange(message)
  requireKeyExchange(group, point)
  return point
}

async function readFinished(
  channel: Channel,
  transcript: TranscriptHash,
  masterSecret: MasterSecret,
): Promise<void> {
  const message = await channel.read(HANDSHAKE_TYPE.finished)
  const verifyData = message.subarray(HANDSHAKE_HEADER_BYTES)
  const expected = masterSecret.verifyData('client', transcript.digest())
  if (verifyData.length !== expected.length) throw violation('decode_error', 'Finished has a wrong length')
  if (!equalInConstantTime(verifyData, expected)) throw violation('decrypt_error', 'Finished does not verify')
  transcript.add(message)
  channel.endHandshake()
}
