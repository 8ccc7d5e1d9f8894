// The `NamedGroup`s of RFC 8446 §4.2.7, and the hybrid of draft-ietf-tls-ecdhe-mlkem.

export const secp256r1 = 0x0017
export const secp384r1 = 0x0018
export const x25519 = 0x001d
export const X25519MLKEM768 = 0x11ec
