// `/v1/sign`: the keyless signer's request and response. Byte fields are base64 of whole handshake messages.

/** The only key that a relay signs with: that of its tenant certificate chain. */
export const SIGN_KEY_ID = 'relay-cert'

/** SIGN_ALGORITHMS are the algorithms of `/v1/sign`. */
export const SIGN_ALGORITHMS = ['ECDSA_SHA256', 'RSA_PSS_SHA256', 'Ed25519'] as const
/** SignAlgorithm is one of {@link SIGN_ALGORITHMS}. */
export type SignAlgorithm = (typeof SIGN_ALGORITHMS)[number]

/** For a CertificateVerify of TLS 1.3 (RFC 8446 §4.4.3), and for nothing else. */
export interface SignRequest {
  key_id: string
  algorithm: SignAlgorithm
  /** The 16 bytes behind the TLS marker, base64. */
  binding: string
  /** The ClientHello that the relay bridged; the first one, when there was a HelloRetryRequest. */
  client_hello: string
  server_hello: string
  encrypted_extensions: string
  certificate: string
  /** Extension: both present when the handshake had a HelloRetryRequest. */
  hello_retry_request?: string | undefined
  client_hello_retry?: string | undefined
  /** By the relay's clock, in seconds since the epoch. */
  timestamp_unix: number
  /** 16 random bytes, hexadecimal. */
  nonce: string
}

/** SignResponse is the answer of `/v1/sign`. */
export interface SignResponse {
  key_id: string
  algorithm: SignAlgorithm
  /** Base64. */
  signature: string
}

/** What a failed request gets, with 400, 403, 405, 415 or 500. */
export interface SignFailure {
  error: string
}
