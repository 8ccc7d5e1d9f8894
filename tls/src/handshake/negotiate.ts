// Negotiates TLS 1.3 (RFC 8446 §4.1.1, §4.2, §9.2) from a ClientHello and the server's preferences.

import type { Settings } from '../config.ts'
import { violation } from '../errors.ts'
import type { ClientHello } from '../messages/client-hello.ts'
import { CIPHER_SUITE, EXTENSION, NAMED_GROUP } from '../messages/constants.ts'
import { suiteHash } from '../messages/transcript.ts'

/**
 * The server's order of preference: every WebCrypto has AES-GCM, and ChaCha20-Poly1305 is loaded for clients without
 * it.
 */
const CIPHER_SUITES: readonly number[] = [
  CIPHER_SUITE.TLS_AES_128_GCM_SHA256,
  CIPHER_SUITE.TLS_AES_256_GCM_SHA384,
  CIPHER_SUITE.TLS_CHACHA20_POLY1305_SHA256,
]

const CURVES: readonly number[] = [NAMED_GROUP.x25519, NAMED_GROUP.secp256r1, NAMED_GROUP.secp384r1]

/** The hybrid's code is loaded on demand, which is impossible in a service worker (HTML, HostLoadImportedModule). */
const HYBRID: readonly number[] = 'ServiceWorkerGlobalScope' in globalThis ? [] : [NAMED_GROUP.X25519MLKEM768]

/** The order of preference among the shares that a client sent. */
const GROUPS: readonly number[] = [...HYBRID, ...CURVES]

/** The order of preference when no share fits. The hybrid comes last, because it alone is not worth a round trip. */
const RETRY_GROUPS: readonly number[] = [...CURVES, ...HYBRID]

/** The bytes of a client's share in each group (§4.2.8.2; draft-ietf-tls-ecdhe-mlkem §4). */
const SHARE_BYTES: Readonly<Record<number, number>> = {
  [NAMED_GROUP.x25519]: 32,
  [NAMED_GROUP.secp256r1]: 65,
  [NAMED_GROUP.secp384r1]: 97,
  [NAMED_GROUP.X25519MLKEM768]: 1184 + 32,
}

/** The mode psk_dhe_ke (§4.2.9), the only one in which the server resumes. */
const PSK_DHE_KE = 1

export interface NegotiatedParameters {
  cipherSuite: number
  group: number
  /** The client's share of the group. Undefined when a HelloRetryRequest is needed. */
  keyExchange: Uint8Array | undefined
  alpn: string | undefined
}

/**
 * Negotiates the parameters.
 * @throws TlsError with the alert of the rule that the ClientHello breaks, or of what the two sides do not have in common
 */
export function negotiate(
  hello: ClientHello,
  { alpn, hashes, helloRetryRequest = true }: Settings,
): NegotiatedParameters {
  requireNoCompression(hello)
  requireExtensions(hello)
  const cipherSuite = CIPHER_SUITES.find(
    (suite) => hello.cipherSuites.includes(suite) && isAllowed(suite, hashes),
  )
  if (cipherSuite === undefined) throw violation('handshake_failure', 'no cipher suite in common')
  const chosen = chooseGroup(hello)
  if (chosen.keyExchange === undefined && !helloRetryRequest)
    throw violation('handshake_failure', 'no key share of a group in common')
  return { cipherSuite, ...chosen, alpn: chooseAlpn(hello, alpn) }
}

function isAllowed(cipherSuite: number, hashes: Settings['hashes']): boolean {
  return hashes === undefined || hashes.includes(suiteHash(cipherSuite)!)
}

/** Requires the compression method null (§4.1.2). */
function requireNoCompression(hello: ClientHello): void {
  if (hello.compressionMethods.length !== 1 || hello.compressionMethods[0] !== 0)
    throw violation('illegal_parameter', 'compression is offered')
}

/** Requires both extensions of (EC)DHE (§9.2): without it there is no handshake here. */
function requireExtensions({ extensions }: ClientHello): void {
  const required: number[] = [EXTENSION.supported_groups, EXTENSION.key_share]
  if (extensions.has(EXTENSION.pre_shared_key)) required.push(EXTENSION.psk_key_exchange_modes)
  else required.push(EXTENSION.signature_algorithms)
  const missing = required.find((type) => !extensions.has(type))
  if (missing !== undefined) throw violation('missing_extension', `extension ${missing} is missing`)
}

/** Chooses the group, and the client's share of it (§4.2.8). */
function chooseGroup(hello: ClientHello): Pick<NegotiatedParameters, 'group' | 'keyExchange'> {
  if (!hello.keyShares.every(({ group }) => hello.supportedGroups.includes(group)))
    throw violation('illegal_parameter', 'a key share of an unsupported group')
  const shareOf = (wanted: number) => hello.keyShares.find(({ group }) => group === wanted)?.keyExchange
  const group =
    GROUPS.find((candidate) => shareOf(candidate) !== undefined) ??
    RETRY_GROUPS.find((candidate) => hello.supportedGroups.includes(candidate))
  if (group === undefined) throw violation('handshake_failure', 'no group in common')
  const keyExchange = shareOf(group)
  if (keyExchange !== undefined) requireKeyExchange(group, keyExchange)
  return { group, keyExchange }
}

/**
 * The first byte of an uncompressed point (SEC 1 §2.3.3), the only form that is allowed (§4.2.8.2; RFC 8422 §5.1.2).
 */
const UNCOMPRESSED = 4

/** Checks a client's share, without arithmetic. */
export function requireKeyExchange(group: number, keyExchange: Uint8Array): void {
  const isPoint = group === NAMED_GROUP.secp256r1 || group === NAMED_GROUP.secp384r1
  if (keyExchange.length !== SHARE_BYTES[group] || (isPoint && keyExchange[0] !== UNCOMPRESSED))
    throw violation('illegal_parameter', `a key share that is not valid for group ${group}`)
}

/** Chooses the protocol (RFC 7301 §3.2). */
export function chooseAlpn(hello: ClientHello, ours: readonly string[]): string | undefined {
  if (ours.length === 0 || hello.alpn.length === 0) return undefined
  const alpn = ours.find((name) => hello.alpn.includes(name))
  if (alpn === undefined) throw violation('no_application_protocol', 'no application protocol in common')
  return alpn
}

/** Requires that the client listed the scheme (§4.4.3). A resumed session needs none. */
export function requireScheme(hello: ClientHello, scheme: number): void {
  if (!hello.extensions.has(EXTENSION.signature_algorithms))
    throw violation('missing_extension', 'signature_algorithms is missing')
  if (!hello.signatureAlgorithms.includes(scheme))
    throw violation('handshake_failure', 'the client accepts no signatures of our key')
}

export function allowsResumption(hello: ClientHello): boolean {
  return hello.pskKeyExchangeModes.includes(PSK_DHE_KE)
}

/**
 * The second ClientHello may change these extensions (§4.1.2). It must not have early_data, and the server sent no
 * cookie.
 */
const CHANGEABLE: readonly number[] = [
  EXTENSION.key_share,
  EXTENSION.pre_shared_key,
  EXTENSION.early_data,
  EXTENSION.padding,
]

/**
 * Compares both ClientHellos.
 * @throws TlsError when the one after a HelloRetryRequest for `group` differs from the first by more than that share
 */
export function requireRetried(first: ClientHello, second: ClientHello, group: number): void {
  const fixed = (hello: ClientHello) => [
    Uint8Array.of(hello.legacyVersion >> 8, hello.legacyVersion),
    hello.random,
    hello.sessionId,
    Uint8Array.from(hello.cipherSuites.flatMap((suite) => [suite >> 8, suite])),
    hello.compressionMethods,
    ...[...hello.extensions]
      .filter(([type]) => !CHANGEABLE.includes(type))
      .flatMap(([type, body]) => [Uint8Array.of(type >> 8, type), body]),
  ]
  const [before, after] = [fixed(first), fixed(second)]
  const same = before.length === after.length && before.every((field, i) => field.join() === after[i]!.join())
  if (!same || second.earlyData || (second.preSharedKey !== undefined && first.preSharedKey === undefined))
    throw violation('illegal_parameter', 'the second ClientHello changed')
  if (second.keyShares.length !== 1 || second.keyShares[0]!.group !== group)
    throw violation('illegal_parameter', 'the second ClientHello lacks the requested share')
}
