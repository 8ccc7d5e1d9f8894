// Request fields that servers trust as set by a proxy. No proxy on the way to a site sets them, so such a field is the
// visitor's own claim.

/**
 * Fields about the visitor's identity (sign-in, certificate or address) and the original request. Each alternative is a
 * whole name, or the part before a `-`. Fields that clients use, such as `X-Auth-Token` and `X-Client-Info`, match none.
 */
const CLAIMED: RegExp =
  /^(?:cf|client-(?:cert|ip)|do-connecting-ip|fastly|fly-client|forwarded|iv|oidc|proxy|remote|shib|sm|ssl|tailscale|true-client|wl-proxy|x-(?:accel|amzn-(?:mtls|oidc)|appengine|arr|auth-(?:email|groups|request|user)|authenticated|authentik|azure|client-(?:cert|dn|ip|verify)|cluster|consumer|envoy|forwarded|goog-(?:authenticated|iap)|host|ms-client-principal|ms-token|original|originating|pomerium|proxyuser|real|remote|rewrite|sendfile|ssl|svc|vouch|webauth))(?:-|$)/

/**
 * Returns whether a server may trust a field as set by a proxy. All characters except letters and digits count as
 * `-`: CGI (RFC 3875 §4.1.18) and its successors map `X-Real-IP` and `X_Real_IP` to one variable.
 * @param name in any case
 */
export function isClaimedField(name: string): boolean {
  return CLAIMED.test(name.toLowerCase().replace(/[^a-z\d]/g, '-'))
}
