// Requests signatures of TLS handshakes at `/v1/sign`: the relay sees handshake messages and never a traffic secret.

import { HEADER, PATH, SIGN_KEY_ID, SIGN_NONCE_BYTES, type SignRequest } from '@svc/protocol'
import { pause } from '@svc/protocol/timers'
import type { SignRequest as Handshake } from '@svc/tls'
import { fromBase64, toBase64 } from '../bytes/base64.ts'
import { hexOf } from '../bytes/hex.ts'
import { SvcError } from '../errors.ts'
import { isRecord, requireRecord, requireText } from './json-checks.ts'
import { CLOCK_LEAP_MS, SIGN_DEADLINE_MS, SIGN_RETRY_PAUSE_MS } from './limits.ts'
import { failureOf, parseJson, type RelayClient, type RelayResponse } from './relay-client.ts'

interface SignContext {
  accessToken: string
  binding: Uint8Array
}

/**
 * Resolves with the relay's signature for the CertificateVerify of a TLS 1.3 handshake (RFC 8446 §4.4.3).
 * @throws SvcError `sign_refused`, or the relay's code when it refused the lease token
 */
export async function requestSignature(
  client: RelayClient,
  handshake: Handshake,
  context: SignContext,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const deadline = performance.now() + SIGN_DEADLINE_MS
  const askOnce = (): Promise<RelayResponse> =>
    client.request(PATH.sign, {
      body: signRequest(handshake, context, client.clock.now),
      headers: { [HEADER.accessToken]: context.accessToken },
      signal,
      deadlineMs: Math.max(0, Math.ceil(deadline - performance.now())),
    })
  const ask = (): Promise<RelayResponse> =>
    askOnce().catch(async (error) => {
      // The SDK does not ask a relay again that did not answer in time. A relay that signed refuses to sign twice.
      const isCut = error instanceof SvcError && error.code === 'relay_unreachable'
      if (!isCut || performance.now() + SIGN_RETRY_PAUSE_MS >= deadline) throw error
      await pause(SIGN_RETRY_PAUSE_MS, signal)
      return askOnce()
    })
  const aheadMs = (): number => client.clock.now - performance.now()
  const before = aheadMs()
  let answer = await ask()
  // A refusal leaves the binding usable, and its date may show that the SDK sent a wrong time.
  if (!answer.ok && Math.abs(aheadMs() - before) > CLOCK_LEAP_MS) answer = await ask()
  const body = parseJson(answer.text)
  if (isRecord(body) && typeof body.error === 'string')
    throw new SvcError('sign_refused', `${answer.status}: ${body.error}`)
  // The relay answers with the envelope only when it refuses the lease token.
  if (!answer.ok) throw failureOf(PATH.sign, answer)
  const data = requireRecord(body, 'signature')
  if (data.key_id !== SIGN_KEY_ID || data.algorithm !== handshake.algorithm)
    throw new SvcError('unexpected_answer', 'the relay signed with another key or algorithm')
  return parseSignature(data)
}

function signRequest(handshake: Handshake, context: SignContext, relayNow: number): SignRequest {
  const { helloRetryRequest, clientHelloRetry } = handshake
  return {
    key_id: SIGN_KEY_ID,
    algorithm: handshake.algorithm,
    binding: toBase64(context.binding),
    client_hello: toBase64(handshake.clientHello),
    server_hello: toBase64(handshake.serverHello),
    encrypted_extensions: toBase64(handshake.encryptedExtensions),
    certificate: toBase64(handshake.certificate),
    hello_retry_request: helloRetryRequest && toBase64(helloRetryRequest),
    client_hello_retry: clientHelloRetry && toBase64(clientHelloRetry),
    timestamp_unix: Math.floor(relayNow / 1000),
    nonce: hexOf(crypto.getRandomValues(new Uint8Array(SIGN_NONCE_BYTES))),
  }
}

/** A signature has up to 512 bytes (RSA-4096), or 684 characters of base64. */
const SIGNATURE = /^[A-Za-z0-9+/]{8,684}={0,2}$/

function parseSignature(data: Record<string, unknown>): Uint8Array {
  const signature = fromBase64(requireText(data, 'signature', SIGNATURE))
  if (signature === undefined) throw new SvcError('unexpected_answer', 'the signature is not base64')
  return signature
}
