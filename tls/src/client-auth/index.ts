// @svc/tls/client-auth: client certificates, for servers that ask for them.

export { type ClientAuthenticationOptions, clientAuthentication } from './client-auth.ts'
