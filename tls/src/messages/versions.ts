// The `ProtocolVersion`s of hellos: TLS 1.3, the frozen one (RFC 8446 §4.1.2), and the refused one (§D.5).

export const ssl30 = 0x0300
export const tls12 = 0x0303
export const tls13 = 0x0304
