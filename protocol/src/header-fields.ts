// The header fields of this protocol.

/** Carries the lease token: `/v1/sign`, `/sdk/cache`, `/sdk/certificate-chain` and `/sdk/certificate`. */
export const accessToken = 'X-Svc-Access-Token'
/** Carries the reverse capability of a native client on `/sdk/connect`. */
export const reverseCapability = 'X-Svc-Reverse-Capability'
/** *Extension* `hop_routes`: the origin of the relay to which `/sdk/route/relay` must lead. */
export const neighbour = 'X-Svc-Relay'
/** The token of a forwarded visitor on `/sdk/hop`. */
export const hopToken = 'X-Svc-Hop-Token'
/** The SHA-256 of that visitor's hostname, in hex digits. */
export const hopHostname = 'X-Svc-Hop-Hostname-Hash'
/** The binding of that visitor at the first relay, in hex digits. */
export const hopBinding = 'X-Svc-Hop-Binding'
/** *Extension* `visitor_address`: a header of the PROXY protocol v2 in base64, if the first relay tells that visitor's address. */
export const hopVisitor = 'X-Svc-Hop-Visitor'
/** The number of relays that the visitor has passed. */
export const hopCount = 'X-Svc-Hop-Count'
/** *Extension*: the id of the request in the relay's log. Every answer of the API has it. */
export const requestId = 'X-Request-Id'
