// `/v1/sign`: the keyless signer's request and response. Byte fields are base64 of complete handshake messages.

/** The id of the only key that a relay signs with: that of its tenant certificate chain. */
export const SIGN_KEY_ID = 'relay-cert'

/** SIGN_ALGORITHMS are the algorithms of `/v1/sign`. */
export const SIGN_ALGORITHMS = ['ECDSA_SHA256', 'RSA_PSS_SHA256', 'Ed25519'] as const
/** SignAlgorithm is one of {@link SIGN_ALGORITHMS}. */
export type SignAlgorithm = (typeof SIGN_ALGORITHMS)[number]

/** SignRequest requests the signature of a TLS 1.3 CertificateVerify (RFC 8446 §4.4.3), and of nothing else. */
export interface SignRequest {
  /** Always {@link SIGN_KEY_ID}. */
  key_id: string
  /** The algorithm of the presented certificate's key. The relay refuses any other. */
  algorithm: SignAlgorithm
  /** The 16 bytes after the TLS marker, in base64. */
  binding: string
  /** The ClientHello that the relay bridged; the first one, if there was a HelloRetryRequest. */
  client_hello: string
  server_hello: string
  encrypted_extensions: string
  /** The Certificate message or, with the extension `certificate_compression`, the CompressedCertificate (RFC 8879). */
  certificate: string
  /** *Extension*: the HelloRetryRequest, if the handshake had one. Requires `client_hello_retry`. */
  hello_retry_request?: string | undefined
  /** *Extension*: the second ClientHello, after a HelloRetryRequest. */
  client_hello_retry?: string | undefined
  /** The time by the relay's clock, in seconds since the epoch, within {@link SIGN_CLOCK_SKEW_S}. */
  timestamp_unix: number
  /** A nonce of 16 random bytes, in hexadecimal. */
  nonce: string
}

/** SignResponse is the answer of `/v1/sign`, without the envelope. It repeats the request's key and algorithm. */
export interface SignResponse {
  key_id: string
  algorithm: SignAlgorithm
  /** The signature for CertificateVerify (RFC 8446 §4.4.3), ECDSA in DER, in base64. */
  signature: string
}

/** SignFailure is the answer to a failed request, with 400, 403, 405, 415 or 500, without the envelope. */
export interface SignFailure {
  /** The reason, for people. */
  error: string
}
