// Sign-In with Ethereum (EIP-4361): the text of a message, and the message of a registration.

import { PATH } from './http-api.ts'

/** REGISTRATION_STATEMENT is the statement of a registration's message. */
export const REGISTRATION_STATEMENT = 'Register a svc lease'
/** The chain ID of a registration. The chain is not accessed. */
const REGISTRATION_CHAIN_ID = 1
/** A challenge id is `rch_` and 16 lower-case hexadecimal digits. */
export const CHALLENGE_ID: RegExp = /^rch_[0-9a-f]{16}$/

/** A SiweMessage has the fields of a message, as written in the text. */
export interface SiweMessage {
  /** The scheme of the requesting origin, such as `https`, if the message has one. */
  scheme?: string | undefined
  /** The authority (RFC 3986 §3.2) that requests the signature: a host, with its port when that is not the scheme's. */
  domain: string
  /** The address with its EIP-55 checksum. */
  address: string
  /** The statement to which the signer agrees, in one line; undefined when there is none. */
  statement?: string | undefined
  /** The URI (RFC 3986) for which the message is signed. */
  uri: string
  /** The chain ID (EIP-155). */
  chainId: number
  /** The nonce: at least 8 ASCII letters and digits. */
  nonce: string
  /** The time of issue (RFC 3339). */
  issuedAt: string
  /** The time from which the message is invalid (RFC 3339). */
  expirationTime?: string | undefined
  /** The time before which the message is invalid (RFC 3339). */
  notBefore?: string | undefined
  requestId?: string | undefined
  /** URIs that the signer agrees to have resolved. */
  resources?: readonly string[] | undefined
}

/** The fields of the messages that this project uses. */
type SignedFields = Pick<
  SiweMessage,
  'domain' | 'address' | 'uri' | 'chainId' | 'nonce' | 'issuedAt' | 'requestId'
> &
  Record<'statement' | 'expirationTime', string>

/** SiwePurpose says who signs a message and for what. The signer of a registration knows it before it gets the message. */
export type SiwePurpose = Omit<SignedFields, 'nonce' | 'issuedAt' | 'expirationTime'>

/** SIWE_FIRST_LINE_END is the text after the domain in the first line. */
export const SIWE_FIRST_LINE_END = ' wants you to sign in with your Ethereum account:'

/**
 * registrationPurpose returns the purpose of a registration at one relay.
 * @param host the relay's host, with its port when that is not 443
 */
export function registrationPurpose(
  host: string,
): Pick<SiwePurpose, 'domain' | 'statement' | 'uri' | 'chainId'> {
  return {
    domain: host,
    statement: REGISTRATION_STATEMENT,
    uri: `https://${host}${PATH.register}`,
    chainId: REGISTRATION_CHAIN_ID,
  }
}

/** siweMessage returns the text to sign. It does not check the fields. */
export function siweMessage(fields: SignedFields): string {
  return [
    fields.domain + SIWE_FIRST_LINE_END,
    fields.address,
    '',
    fields.statement,
    '',
    `URI: ${fields.uri}`,
    'Version: 1',
    `Chain ID: ${fields.chainId}`,
    `Nonce: ${fields.nonce}`,
    `Issued At: ${fields.issuedAt}`,
    `Expiration Time: ${fields.expirationTime}`,
    ...(fields.requestId === undefined ? [] : [`Request ID: ${fields.requestId}`]),
  ].join('\n')
}

/** The lines of a registration that its issuer may choose. */
const CHOSEN =
  /^Nonce: ([A-Za-z0-9]{8,64})\nIssued At: ([0-9T:.Z+-]{20,40})\nExpiration Time: ([0-9T:.Z+-]{20,40})$/m

/**
 * isSiweFor returns whether `message` is exactly the message for this purpose. Only
 * its nonce and times may vary.
 */
export function isSiweFor(message: string, purpose: SiwePurpose): boolean {
  const [, nonce, issuedAt, expirationTime] = CHOSEN.exec(message) ?? []
  if (!nonce || !issuedAt || !expirationTime) return false
  return siweMessage({ ...purpose, nonce, issuedAt, expirationTime }) === message
}
