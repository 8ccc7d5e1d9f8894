// The ALPN name of `tls-alpn-01` (RFC 8737 §3), by which the listener recognizes a connection of an ACME authority.

export const ACME_TLS_ALPN = 'acme-tls/1'
