// Sign-In with Ethereum (EIP-4361): the text of a message, and the message by which the holder of a key registers.

import { PATH } from './http-api.ts'

/** REGISTRATION_STATEMENT is the statement of the message that registration signs. */
export const REGISTRATION_STATEMENT = 'Register a svc lease'
/** The chain that a registration names. Nothing is looked up on it. */
const REGISTRATION_CHAIN_ID = 1
/** A challenge id is `rch_` and 16 lower-case hexadecimal digits. */
export const CHALLENGE_ID: RegExp = /^rch_[0-9a-f]{16}$/

/** A SiweMessage has the fields of a message. Each is as it stands in the text. */
export interface SiweMessage {
  /** The scheme of the origin that asks, such as `https`, where the message names one. */
  scheme?: string | undefined
  /** The authority (RFC 3986 §3.2) that asks for the signature: a host, with its port when that is not the scheme's. */
  domain: string
  /** The address with its EIP-55 checksum. */
  address: string
  /** The statement to which the signer agrees, in one line; undefined when there is none. */
  statement?: string | undefined
  /** The URI (RFC 3986) for which the message is signed. */
  uri: string
  /** The chain's number (EIP-155). */
  chainId: number
  /** The nonce: 8 ASCII letters and digits or more. */
  nonce: string
  /** The time of issue (RFC 3339). */
  issuedAt: string
  /** The time from which on the message proves nothing (RFC 3339). */
  expirationTime?: string | undefined
  /** The time before which the message proves nothing (RFC 3339). */
  notBefore?: string | undefined
  requestId?: string | undefined
  /** URIs that the signer agrees to have resolved. */
  resources?: readonly string[] | undefined
}

/** The fields of the messages that this project asks wallets to sign. */
type SignedFields = Pick<
  SiweMessage,
  'domain' | 'address' | 'uri' | 'chainId' | 'nonce' | 'issuedAt' | 'requestId'
> &
  Record<'statement' | 'expirationTime', string>

/** SiwePurpose says who signs a message and for what. The signer of a registration knows it before the message comes. */
export type SiwePurpose = Omit<SignedFields, 'nonce' | 'issuedAt' | 'expirationTime'>

/** SIWE_FIRST_LINE_END are the words after the domain in the first line. */
export const SIWE_FIRST_LINE_END = ' wants you to sign in with your Ethereum account:'

/**
 * registrationPurpose returns the purpose of a message that registers at one relay.
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

/** siweMessage returns the text that is signed. The caller answers for its fields: no field is checked here. */
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

/** The lines of a registration that its issuer is free to choose. */
const CHOSEN =
  /^Nonce: ([A-Za-z0-9]{8,64})\nIssued At: ([0-9T:.Z+-]{20,40})\nExpiration Time: ([0-9T:.Z+-]{20,40})$/m

/**
 * isSiweFor returns whether `message` is the one message that may be signed for this purpose: it differs in no byte but in its
 * nonce and its times, which the issuer chooses.
 */
export function isSiweFor(message: string, purpose: SiwePurpose): boolean {
  const [, nonce, issuedAt, expirationTime] = CHOSEN.exec(message) ?? []
  if (!nonce || !issuedAt || !expirationTime) return false
  return siweMessage({ ...purpose, nonce, issuedAt, expirationTime }) === message
}
