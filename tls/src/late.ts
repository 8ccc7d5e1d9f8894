// @svc/tls/late: what few servers need, TLS 1.2 and client certificates. It is one file, since a bundler that splits it would
// also split what it shares with the rest, so that every page downloads more at once.

export { clientAuthentication } from './client-auth/client-auth.ts'
export { describeCertificate } from './client-auth/client-certificate.ts'
export { handshake as handshakeTls12 } from './tls12/handshake.ts'
export { readCertificate } from './x509/certificate.ts'
