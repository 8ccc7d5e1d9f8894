// The server's handshake, in the order of RFC 8446 §2, figure 1: read this file alongside §4.

import { SCHEME_OF } from '../certificate/leaf.ts'
import type { ConnectionInfo, Settings, SignRequest } from '../config.ts'
import { equalInConstantTime } from '../crypto/constant-time.ts'
import { hashOf } from '../crypto/hash.ts'
import {
  EarlySecret,
  type HandshakeTrafficSecret,
  type MasterSecret,
  type ResumptionSecret,
} from '../crypto/key-schedule.ts'
import type { Secrets } from '../crypto/secrets.ts'
import { TranscriptHash } from '../crypto/transcript-hash.ts'
import { violation } from '../errors.ts'
import { TICKETS_PER_HANDSHAKE } from '../limits.ts'
import { encodeCertificate, encodeCertificateVerify } from '../messages/certificate.ts'
import { type ClientHello, parseClientHello } from '../messages/client-hello.ts'
import { HANDSHAKE_HEADER_BYTES, HANDSHAKE_TYPE, RECORD_FRAGMENT_MAX_BYTES } from '../messages/constants.ts'
import { encodeEncryptedExtensions } from '../messages/encrypted-extensions.ts'
import { encodeNewSessionTicket } from '../messages/new-session-ticket.ts'
import { encodeHelloRetryRequest, encodeServerHello } from '../messages/server-hello-encoder.ts'
import { suiteHash } from '../messages/transcript.ts'
import { concat, handshakeMessage } from '../messages/writer.ts'
import { Tls13Protection } from '../record/protection.ts'
import type { Channel } from './channel.ts'
import type { HandshakeResult } from './handshake-result.ts'
import { KeyUpdates } from './key-update.ts'
import {
  allowsResumption,
  type NegotiatedParameters,
  negotiate,
  requireRetried,
  requireScheme,
} from './negotiate.ts'
import { type AcceptedPsk, acceptPsk, sessionOf } from './resumption.ts'
import { requestSignature } from './signer.ts'

const VERSION = 'TLSv1.3' as const

/** The ClientHello that is used, and the transcript before it. */
interface Offer {
  hello: ClientHello
  negotiated: NegotiatedParameters & { keyExchange: Uint8Array }
  /** The transcript without `hello` itself. */
  transcript: TranscriptHash
  retry: Required<Pick<SignRequest, 'clientHello' | 'helloRetryRequest' | 'clientHelloRetry'>> | undefined
}

/**
 * Runs the handshake from the first ClientHello to the client's Finished.
 * @param leaving aborts when the client has left
 * @throws TlsError with the alert that ends the connection
 */
export async function handshake(
  first: ClientHello,
  channel: Channel,
  settings: Settings,
  secrets: Secrets,
  leaving: AbortSignal,
): Promise<HandshakeResult> {
  const { crypto } = settings
  const offer = await agree(first, channel, settings)
  const { hello, negotiated, transcript, retry } = offer
  const { cipherSuite, group, alpn } = negotiated
  // In TLS 1.3 the limit includes the content type (RFC 8449 §4).
  if (hello.recordSizeLimit !== undefined) channel.outbound.limitRecords(hello.recordSizeLimit - 1)

  // The pre_shared_key (§4.2.11) names a session that the client resumes, if any.
  const psk = await acceptPsk(hello, negotiated, transcript, settings, secrets)
  if (psk === undefined) requireScheme(hello, SCHEME_OF[settings.algorithm])
  const hash = hashOf(crypto, suiteHash(cipherSuite)!)
  const earlySecret = psk?.earlySecret ?? new EarlySecret(hash, undefined, secrets)
  transcript.add(hello.message)

  // ServerHello (§4.1.3)
  const { keyExchange, sharedSecret } = await crypto.agree(group, negotiated.keyExchange)
  const { sessionId } = hello
  const random = crypto.randomBytes(32)
  const answer = { random, sessionId, cipherSuite, group, keyExchange, selectedIdentity: psk?.index }
  const serverHello = encodeServerHello(answer)
  transcript.add(serverHello)
  channel.send(serverHello)
  if (sessionId.length > 0 && retry === undefined) channel.sendChangeCipherSpec()

  // Handshake keys (§7.1)
  const handshakeSecret = earlySecret.handshake(sharedSecret)
  const clientHandshake = handshakeSecret.clientTraffic(transcript.digest())
  const serverHandshake = handshakeSecret.serverTraffic(transcript.digest())
  const masterSecret = handshakeSecret.master()
  channel.protectInbound(new Tls13Protection(crypto, cipherSuite, clientHandshake))
  channel.outbound.protect(new Tls13Protection(crypto, cipherSuite, serverHandshake))
  if (hello.earlyData && retry === undefined) channel.inbound.skipEarlyData()

  // EncryptedExtensions (§4.3.1), and CertificateRequest (§4.3.2) when there is one
  const recordSizeLimit = hello.recordSizeLimit === undefined ? undefined : RECORD_FRAGMENT_MAX_BYTES + 1
  // A resumption has no server_name (RFC 6066 §3).
  const serverName = hello.serverName !== undefined && psk === undefined
  const encryptedExtensions = concat(
    encodeEncryptedExtensions({ serverName, alpn, recordSizeLimit }),
    settings.clientCertificates?.request ?? new Uint8Array(),
  )
  transcript.add(encryptedExtensions)

  // Certificate or CompressedCertificate, CertificateVerify (§4.4.2, §4.4.3; RFC 8879 §4)
  const sent = { serverHello, encryptedExtensions }
  const last = psk ? encryptedExtensions : await authenticate(offer, sent, channel, settings, leaving)

  // Finished (§4.4.4)
  const finished = handshakeMessage(HANDSHAKE_TYPE.finished, serverHandshake.verifyData(transcript.digest()))
  transcript.add(finished)
  channel.send(last, finished)
  serverHandshake.erase()
  return complete(offer, channel, settings, clientHandshake, masterSecret, psk)
}

/** Sends the certificate, and resolves with the signed CertificateVerify. */
async function authenticate(
  { hello, transcript, retry }: Offer,
  sent: Pick<SignRequest, 'serverHello' | 'encryptedExtensions'>,
  channel: Channel,
  settings: Settings,
  leaving: AbortSignal,
): Promise<Uint8Array> {
  const { algorithm } = settings
  const certificate = certificateFor(hello, settings)
  transcript.add(certificate)
  // The messages of one flight share records (§5.1).
  channel.send(sent.encryptedExtensions, certificate)
  channel.flush()
  const request = { algorithm, clientHello: hello.message, ...retry, ...sent, certificate }
  const sign = (signal: AbortSignal) => settings.sign(request, signal)
  const signature = await requestSignature(sign, settings.limits, leaving)
  const certificateVerify = encodeCertificateVerify(SCHEME_OF[algorithm], signature)
  transcript.add(certificateVerify)
  return certificateVerify
}

/** Changes to the application keys, and resolves when the client's Finished has arrived. */
async function complete(
  { hello, negotiated, transcript }: Offer,
  channel: Channel,
  settings: Settings,
  clientHandshake: HandshakeTrafficSecret,
  masterSecret: MasterSecret,
  psk: AcceptedPsk | undefined,
): Promise<HandshakeResult> {
  const { crypto } = settings
  const { cipherSuite, group, alpn } = negotiated

  // Application keys (§7.1), which protect what the server sends from now on
  const serverFinished = transcript.digest()
  const traffic = {
    client: masterSecret.clientTraffic(serverFinished),
    server: masterSecret.serverTraffic(serverFinished),
  }
  const exporter = masterSecret.exporter(serverFinished)
  channel.outbound.protect(new Tls13Protection(crypto, cipherSuite, traffic.server))
  channel.flush()

  // The client's Certificate and CertificateVerify (§4.4.2, §4.4.3), and its Finished
  const clientCertificate = await settings.clientCertificates?.read(channel, transcript)
  await readFinished(channel, transcript, clientHandshake)
  channel.protectInbound(new Tls13Protection(crypto, cipherSuite, traffic.client))
  channel.endHandshake()
  const resumption = masterSecret.resumption(transcript.digest())
  masterSecret.erase()

  // NewSessionTicket (§4.6.1)
  const resumed = psk !== undefined
  const { serverName } = hello
  const info = { version: VERSION, serverName, alpn, cipherSuite, group, resumed, clientCertificate }
  if (allowsResumption(hello)) await sendTickets(channel, settings, info, resumption, psk?.authenticatedAt)
  resumption.erase()
  return { info, exporter, postHandshake: new KeyUpdates(crypto, cipherSuite, channel, traffic) }
}

/** Negotiates (§4.1.1), with a HelloRetryRequest when the client sent no share of a common group (§4.1.4). */
async function agree(first: ClientHello, channel: Channel, settings: Settings): Promise<Offer> {
  channel.requireFlightEnd()
  const negotiated = negotiate(first, settings)
  const { cipherSuite, group, keyExchange } = negotiated
  const transcript = new TranscriptHash(hashOf(settings.crypto, suiteHash(cipherSuite)!))
  if (keyExchange !== undefined)
    return { hello: first, negotiated: { ...negotiated, keyExchange }, transcript, retry: undefined }

  const helloRetryRequest = encodeHelloRetryRequest({ sessionId: first.sessionId, cipherSuite, group })
  transcript.add(first.message)
  transcript.retry()
  transcript.add(helloRetryRequest)
  channel.send(helloRetryRequest)
  if (first.sessionId.length > 0) channel.sendChangeCipherSpec()
  if (first.earlyData) channel.inbound.skipEarlyData()
  channel.flush()

  const second = parseClientHello(await channel.read(HANDSHAKE_TYPE.client_hello))
  channel.requireFlightEnd()
  channel.inbound.endEarlyData()
  requireRetried(first, second, group)
  const retried = negotiate(second, settings)
  return {
    hello: second,
    negotiated: { ...retried, keyExchange: retried.keyExchange! },
    transcript,
    retry: { clientHello: first.message, helloRetryRequest, clientHelloRetry: second.message },
  }
}

/** Returns the shortest form of the certificate that the client accepts. */
function certificateFor(
  { certificateCompression }: ClientHello,
  { certificateChain, compressedCertificates }: Settings,
): Uint8Array {
  for (const [algorithm, message] of compressedCertificates ?? [])
    if (certificateCompression.includes(algorithm)) return message
  return encodeCertificate(certificateChain)
}

async function readFinished(
  channel: Channel,
  transcript: TranscriptHash,
  clientHandshake: HandshakeTrafficSecret,
): Promise<void> {
  const message = await channel.read(HANDSHAKE_TYPE.finished)
  const verifyData = message.subarray(HANDSHAKE_HEADER_BYTES)
  const expected = clientHandshake.verifyData(transcript.digest())
  clientHandshake.erase()
  if (verifyData.length !== expected.length) throw violation('decode_error', 'Finished has a wrong length')
  if (!equalInConstantTime(verifyData, expected)) throw violation('decrypt_error', 'Finished does not verify')
  transcript.add(message)
}

/**
 * Sends tickets.
 * @param authenticatedAt the time of the resumed session, if this connection resumes one
 */
async function sendTickets(
  channel: Channel,
  settings: Settings,
  info: ConnectionInfo,
  resumption: ResumptionSecret,
  authenticatedAt: number = Math.floor(Date.now() / 1000),
): Promise<void> {
  const { tickets, crypto } = settings
  const lifetimeSeconds = tickets?.lifetimeOf(authenticatedAt) ?? 0
  if (tickets === undefined || lifetimeSeconds <= 0) return
  const messages: Uint8Array[] = []
  for (let i = 0; i < TICKETS_PER_HANDSHAKE; i++) {
    const nonce = Uint8Array.of(i)
    const session = { ...sessionOf(info, settings), psk: resumption.psk(nonce), authenticatedAt }
    const ageAdd = new DataView(crypto.randomBytes(4).buffer).getUint32(0)
    const ticket = await tickets.seal(session)
    messages.push(encodeNewSessionTicket({ lifetimeSeconds, ageAdd, nonce, ticket }))
  }
  channel.send(...messages)
}
