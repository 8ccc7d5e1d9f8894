// The Sign-In with Ethereum message (EIP-4361) that proves an identity at registration.

import { PATH } from './http-api.ts'

/** SIWE_STATEMENT is the statement of the Sign-In with Ethereum message (ERC-4361). */
export const SIWE_STATEMENT = 'Register a svc lease'
/** SIWE_CHAIN_ID is the chain that the message names. Nothing is looked up on it. */
export const SIWE_CHAIN_ID = 1
/** `rch_` and 16 lower-case hexadecimal digits. */
export const CHALLENGE_ID: RegExp = /^rch_[0-9a-f]{16}$/

/** SiweFields is what differs between two Sign-In with Ethereum messages of this protocol. */
export interface SiweFields {
  /** The relay's host, with its port when that is not 443. */
  host: string
  /** EIP-55 checksummed. */
  address: string
  /** Alphanumeric, at least 8 characters. */
  nonce: string
  /** RFC 3339. */
  issuedAt: string
  expirationTime: string
  /** The challenge id. */
  requestId: string
}

/** The exact text that the relay issues and the identity signs. */
export function siweMessage(fields: SiweFields): string {
  return [
    `${fields.host} wants you to sign in with your Ethereum account:`,
    fields.address,
    '',
    SIWE_STATEMENT,
    '',
    `URI: https://${fields.host}${PATH.register}`,
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
 * Reads what the relay was free to choose and checks that nothing else differs from the one message
 * that may be signed for this relay, this identity and this request.
 * @returns undefined when `message` is anything else, be it by a byte
 */
export function parseSiweMessage(
  message: string,
  expected: Pick<SiweFields, 'host' | 'address' | 'requestId'>,
): SiweFields | undefined {
  const nonce = LINE.nonce.exec(message)?.[1]
  const issuedAt = LINE.issuedAt.exec(message)?.[1]
  const expirationTime = LINE.expirationTime.exec(message)?.[1]
  if (nonce === undefined || issuedAt === undefined || expirationTime === undefined) return undefined
  const fields = { ...expected, nonce, issuedAt, expirationTime }
  return siweMessage(fields) === message ? fields : undefined
}
