// The sentences of errors that few pages ever have, and so load late: about wrong options, and relays that do not fit.

import { LEASE_TTL_MAX_S, PROTOCOL_VERSION } from '@svc/protocol'
import { CONNECTIONS_MAX } from './limits.ts'
import { noOption, optionNames } from './option-names.ts'

const SWITCH = 'must be true or false'
const FUNCTION = 'must be a function'

/** What is said of each option. Behind some, the value follows. */
const SENTENCES: Readonly<Record<string, string>> = {
  route: 'needs the SDK for Node',
  relays: 'must be an array of URLs',
  name: 'must be one DNS label: 1 to 22 letters, digits and inner hyphens',
  fetch: FUNCTION,
  onSite: FUNCTION,
  debug: FUNCTION,
  signal: 'must be an AbortSignal',
  metadata: 'must be an object',
  allowFields: 'must be an array of names',
  identity: 'must be a private key of 32 bytes (Uint8Array) or the name of a stored one',
  allowCanonicalFallback: SWITCH,
  listed: SWITCH,
  http2: SWITCH,
  hsts: SWITCH,
  globals: SWITCH,
  ttl: `must be a whole number of seconds from 1 to ${LEASE_TTL_MAX_S}`,
  maxConnections: `must be a whole number from 1 to ${CONNECTIONS_MAX}`,
  certificate: 'must be own or shared, not',
  tls: 'must be an object',
  'tls.minVersion': 'must be TLSv1.3 or TLSv1.2, not',
  'tls.onSecret': FUNCTION,
  cache: 'must be an object with files',
  'cache.files': 'must be a map, a record or a list of files, a folder, or a function',
  'cache.index': 'must be the path of a file',
  'cache.fallback': SWITCH,
  'cache.ttl': 'must be a whole number of seconds, or 0 for what the relay allows',
}

/** What is said of values that would be right elsewhere. */
const OF_VALUES: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  identity: (value) =>
    typeof value === 'string'
      ? 'would be a name, but it looks like a private key: give the 32 bytes of a key as a Uint8Array'
      : undefined,
  'tls.minVersion': (value) =>
    value === 'TLSv1.2' ? 'TLSv1.2 needs certificate: own, since the relay signs TLS 1.3 only' : undefined,
}

/** The form of the protocol's versions that have an order. */
const NUMBER = /^\d+$/

/** A relay speaks another protocol: the sentence says who has to upgrade. */
export function incompatible(theirs: string, release: string | undefined): string {
  const relay = release === undefined ? 'the relay' : `the relay (release ${release})`
  return `${relay} speaks protocol ${theirs}, this SDK protocol ${PROTOCOL_VERSION}: ${upgradeOf(theirs)}`
}

function upgradeOf(theirs: string): string {
  if (!NUMBER.test(theirs)) return 'one of them has to be upgraded'
  return Number(theirs) > Number(PROTOCOL_VERSION)
    ? 'the SDK has to be upgraded'
    : 'its operator has to upgrade the relay'
}

/** The SDK signs nothing that it has not checked. */
export function notSigned(): string {
  return 'refused to sign: the message does not name this relay, this identity and this request'
}

/** The relay granted a lease that nobody asked for. */
export function anotherIdentity(): string {
  return 'the relay registered another identity'
}

/** The relay answered a capability with something else than one of two bytes. */
export function strangeByte(byte: number): string {
  return `the relay answered a capability with 0x${byte.toString(16)}`
}

/** The relay answers a WebSocket with another protocol than the offered one. */
export function otherSubprotocol(): string {
  return 'the relay selected another WebSocket subprotocol'
}

/** A visitor came while the lease was ending. */
export function noLease(): string {
  return 'there is no lease to sign with'
}

/** A site needs a certificate of its own, and cannot have one. */
export function noCertificate(obstacle: Obstacle): string {
  return `the relay has no certificate that its sites share, and ${OBSTACLES[obstacle]}`
}

/** An Obstacle is a reason for which a site has no certificate of its own. */
export type Obstacle = keyof typeof OBSTACLES

const OBSTACLES = {
  store: 'there is no place for the key of one of its own here',
  option: 'certificate: own asks for one of its own',
  relay: 'it issues none to sites',
} as const

/** A visitor could not be served, although the site is online. */
export function visitorFailed(reason: string): string {
  return `a visitor's TLS handshake failed: ${reason}`
}

/** The platform, or a polyfill in it, is older than what the SDK needs. */
export function unsupported(): string {
  return 'the SDK needs Promise.withResolvers and URL.parse: Chrome 126, Firefox 126, Safari 18, Node 22.1, zone.js 0.14.3, or later ones'
}

/**
 * The sentence names the option and the reason.
 * @param option the option, or what is wrong with it, as `readOptions` names it
 */
export function wrongOption(option: string, options: Record<string, unknown>): string {
  if (option === 'relay') return wrongRelay(options.relay)
  const hasSentence = [OF_VALUES, SENTENCES].some((sentences) => Object.hasOwn(sentences, option))
  if (!hasSentence && !optionNames().includes(option)) return noOption(option)
  const [name = '', member] = option.split('.')
  const value = member === undefined ? options[name] : (options[name] as Record<string, unknown>)[member]
  const sentence = OF_VALUES[option]?.(value) ?? SENTENCES[option] ?? 'is wrong'
  return `${option} ${sentence}${sentence.endsWith(' not') ? ` ${printed(value)}` : ''}`
}

/** Says why `relay` is not the address of a relay. */
export function wrongRelay(relay: unknown): string {
  const text = printed(relay)
  const url = URL.parse(text)
  if (url === null) return `relay ${typeof relay === 'string' ? JSON.stringify(relay) : text} is not a URL`
  if (url.protocol !== 'https:') return `relay must be an https: URL, not ${url.protocol}`
  return 'relay must not carry credentials'
}

/** Returns the value as text. Some objects have none. */
function printed(value: unknown): string {
  try {
    return String(value)
  } catch {
    return `of type ${typeof value}`
  }
}
