// The Sign-In with Ethereum message (EIP-4361) by which the holder of a key proves an address.

import { PATH } from './http-api.ts'

/** REGISTRATION_STATEMENT is the statement of the message that registration signs. */
export const REGISTRATION_STATEMENT = 'Register a svc lease'
/** SIWE_CHAIN_ID is the chain that the message names. Nothing is looked up on it. */
export const SIWE_CHAIN_ID = 1
/** A challenge id is `rch_` and 16 lower-case hexadecimal digits. */
export const CHALLENGE_ID: RegExp = /^rch_[0-9a-f]{16}$/

/** SiweFields are the fields in which two Sign-In with Ethereum messages of this protocol can differ. */
export interface SiweFields {
  /** The host that asks for the signature, with its port when that is not 443. */
  host: string
  /** The address with its EIP-55 checksum. */
  address: string
  /** The statement to which the signer agrees, in one line. */
  statement: string
  /** The resource for which the message is signed. */
  uri: string
  /** A nonce of 8 to 64 ASCII letters and digits. */
  nonce: string
  /** The time of issue (RFC 3339). */
  issuedAt: string
  /** The time of expiry (RFC 3339): {@link CHALLENGE_TTL_S} later. */
  expirationTime: string
  /** The request's id. For a registration it is the challenge id. */
  requestId: string
}

/** SiwePurpose says who signs a message and for what. The signer knows it before the message comes. */
export type SiwePurpose = Pick<SiweFields, 'host' | 'address' | 'statement' | 'uri' | 'requestId'>

/**
 * registrationPurpose returns the purpose of a message that registers at one relay.
 * @param host the relay's host, with its port when that is not 443
 */
export function registrationPurpose(host: string): Pick<SiwePurpose, 'host' | 'statement' | 'uri'> {
  return { host, statement: REGISTRATION_STATEMENT, uri: `https://${host}${PATH.register}` }
}

/** siweMessage returns the exact text that the relay issues and the tenant signs. */
export function siweMessage(fields: SiweFields): string {
  return [
    `${fields.host} wants you to sign in with your Ethereum account:`,
    fields.address,
    '',
    fields.statement,
    '',
    `URI: ${fields.uri}`,
    'Version: 1',
    `Chain ID: ${SIWE_CHAIN_ID}`,
    `Nonce: ${fields.nonce}`,
    `Issued At: ${fields.issuedAt}`,
    `Expiration Time: ${fields.expirationTime}`,
    `Request ID: ${fields.requestId}`,
  ].join('\n')
}

const LINE = {
  nonce: /^Nonce: ([A-Za-z0-9]{8,64})$/m,
  issuedAt: /^Issued At: ([0-9T:.Z+-]{20,40})$/m,
  expirationTime: /^Expiration Time: ([0-9T:.Z+-]{20,40})$/m,
} as const

/**
 * parseSiweMessage reads the nonce and the times, which the issuer was free to choose. Nothing else may differ from the one
 * message that may be signed for this purpose.
 * @returns undefined when `message` differs by as much as a byte
 */
export function parseSiweMessage(message: string, expected: SiwePurpose): SiweFields | undefined {
  const nonce = LINE.nonce.exec(message)?.[1]
  const issuedAt = LINE.issuedAt.exec(message)?.[1]
  const expirationTime = LINE.expirationTime.exec(message)?.[1]
  if (nonce === undefined || issuedAt === undefined || expirationTime === undefined) return undefined
  const fields = { ...expected, nonce, issuedAt, expirationTime }
  return siweMessage(fields) === message ? fields : undefined
}
