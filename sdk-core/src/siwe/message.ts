// The fields of a Sign-In with Ethereum message (EIP-4361), and the text that a wallet signs.

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

/** The words after the domain in the first line. */
export const FIRST_LINE_END = ' wants you to sign in with your Ethereum account:'

/** Returns the text of a message. The caller answers for its fields: no field is checked here. */
export function siweText(message: SiweMessage): string {
  const { scheme, domain, address, statement, uri, chainId, nonce, issuedAt } = message
  const { expirationTime, notBefore, requestId, resources } = message
  return [
    `${scheme === undefined ? '' : `${scheme}://`}${domain}${FIRST_LINE_END}`,
    address,
    '',
    ...(statement === undefined ? [] : [statement]),
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    ...(expirationTime === undefined ? [] : [`Expiration Time: ${expirationTime}`]),
    ...(notBefore === undefined ? [] : [`Not Before: ${notBefore}`]),
    ...(requestId === undefined ? [] : [`Request ID: ${requestId}`]),
    ...(resources === undefined ? [] : ['Resources:', ...resources.map((uri) => `- ${uri}`)]),
  ].join('\n')
}
