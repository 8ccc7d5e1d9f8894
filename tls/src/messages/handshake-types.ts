// The `HandshakeType`s of RFC 8446 §4, and those of TLS 1.2 alone (RFC 5246 §7.4, RFC 6066 §8).

export const client_hello = 1
export const server_hello = 2
export const new_session_ticket = 4
export const end_of_early_data = 5
export const encrypted_extensions = 8
export const certificate = 11
export const server_key_exchange = 12
export const certificate_request = 13
export const server_hello_done = 14
export const certificate_verify = 15
export const client_key_exchange = 16
export const finished = 20
export const key_update = 24
/** RFC 8879 §4. */
export const compressed_certificate = 25
export const message_hash = 254
