// The cipher suites of TLS 1.3 (RFC 8446 §B.4).

export const TLS_AES_128_GCM_SHA256 = 0x1301
export const TLS_AES_256_GCM_SHA384 = 0x1302
export const TLS_CHACHA20_POLY1305_SHA256 = 0x1303
