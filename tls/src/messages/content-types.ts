// The `ContentType`s of records (RFC 8446 §5.1).

export const change_cipher_spec = 20
export const alert = 21
export const handshake = 22
export const application_data = 23
