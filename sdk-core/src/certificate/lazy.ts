// The code for certificates that a site needs only once it is online, as one chunk that a page downloads later.

export { compressCertificates } from '@svc/tls'
export { CertificateKeeper } from './certificate-keeper.ts'
