// Fields of a request that servers believe when a proxy set them. No proxy on the way to a site does: such a field is the
// visitor's own claim.

/**
 * They say who the visitor is (by sign-in, certificate or address), and what was requested of the proxy. Each alternative is a
 * whole name, or what stands before a `-`. Fields that clients use, such as `X-Auth-Token` and `X-Client-Info`, match none.
 */
const CLAIMED: RegExp =
  /^(?:cf|client-(?:cert|ip)|do-connecting-ip|fastly|fly-client|forwarded|iv|oidc|proxy|remote|shib|sm|ssl|tailscale|true-client|wl-proxy|x-(?:accel|amzn-(?:mtls|oidc)|appengine|arr|auth-(?:email|groups|request|user)|authenticated|authentik|azure|client-(?:cert|dn|ip|verify)|cluster|consumer|envoy|forwarded|goog-(?:authenticated|iap)|host|ms-client-principal|ms-token|original|originating|pomerium|proxyuser|real|remote|rewrite|sendfile|ssl|svc|vouch|webauth))(?:-|$)/

/**
 * Says whether a server may take a field for the word of a proxy in front of it. Every character but letters and digits counts as
 * `-`: CGI (RFC 3875 §4.1.18) and its successors make one variable of `X-Real-IP` and `X_Real_IP`.
 * @param name in any case
 */
export function isClaimedField(name: string): boolean {
  return CLAIMED.test(name.toLowerCase().replace(/[^a-z\d]/g, '-'))
}
