// The code of certificates that no site needs before it is online, for one file that a page downloads later.

export { compressCertificates } from '@svc/tls'
export { CertificateKeeper } from './certificate-keeper.ts'
