// All paths of the relay's API, with method, body and the data of the answer (docs/protocol.md).

/** `GET`: the OpenAPI 3 document of the API, outside the envelope. *Extension*. */
export const openapi = '/api/openapi.json'
/** `GET`: `HealthResponse`. */
export const health = '/api/healthz'
/** `GET`: `PublicStateResponse`. */
export const state = '/api/state'
/** `GET`: the installer for `sh`, outside the envelope. */
export const installSh = '/api/install.sh'
/** `GET`: the installer for PowerShell, outside the envelope. */
export const installPs1 = '/api/install.ps1'
/** `GET`: the browser SDK as an ES module. *Extension*. */
export const sdkEntry = '/sdk.js'
/** `GET`: an import map with the integrity of each of the SDK's modules. *Extension*. */
export const sdkImportMap = '/sdk/importmap.json'
/** The prefix of the paths of the modules that `/sdk.js` loads. */
export const sdkModules = '/sdk/modules/'
/** `POST` of `AdminAuthLoginRequest`: `AdminAuthLoginResponse`. */
export const adminLogin = '/api/admin/auth/login'
/** `GET`, with a bearer or without: `AdminAuthStatusResponse`. */
export const adminStatus = '/api/admin/auth/status'
/** `POST` with the bearer. The relay does nothing; the client deletes its token. */
export const adminLogout = '/api/admin/auth/logout'
/** `GET`: `AdministratorsResponse`, and `POST` of `AdministratorRequest`: `NewAdministrator`, with the bearer. *Extension*. */
export const administrators = '/api/admin/administrators'
/** `POST` of `AdministratorRequest` with the bearer: the administrator's token is no longer valid. *Extension*. */
export const removeAdministrator = '/api/admin/administrators/remove'
/** `GET` with the bearer: `AdminLoadResponse`. *Extension*. */
export const adminLoad = '/api/admin/load'
/** `GET` with the bearer: `AdminCertificatesResponse`. *Extension*. */
export const adminCertificates = '/api/admin/certificates'
/** `GET` with the bearer: `AdminCacheResponse`. *Extension*. */
export const adminCache = '/api/admin/cache'
/** `GET` with the bearer: `AdminPaymentsResponse`. *Extension*. */
export const adminPayments = '/api/admin/payments'
/** `GET`, and `POST` of `PolicySettings`, with the bearer: `PolicySettings`. */
export const policy = '/api/policy'
/** `GET` with the bearer: `PolicyStateResponse`. */
export const policyState = '/api/policy/state'
/** `GET` with the bearer and the query `identity_key`: `PolicyLeaseResponse`. *Extension*. */
export const policyLease = '/api/policy/lease'
/** `POST` of `LeasePolicyUpdate` with the bearer. */
export const policyLeases = '/api/policy/leases'
/** `POST` of `LeaseDecisions` with the bearer. *Extension*. */
export const policyLeasesBulk = '/api/policy/leases/bulk'
/** `POST` of `IpPolicyUpdate` with the bearer. */
export const policyIps = '/api/policy/ips'
/** `POST` of `RelayPolicyUpdate` with the bearer. *Extension*. */
export const policyRelays = '/api/policy/relays'
/** `POST` of `DomainPolicyUpdate` with the bearer. *Extension*. */
export const policyDomains = '/api/policy/domains'
/** `GET`: `PinnedNamesResponse`, and `POST` of `NamePolicyUpdate`, with the bearer. *Extension*. */
export const policyNames = '/api/policy/names'
/** `GET`: `InvitationsResponse`, and `POST` of `InvitationRequest`: `NewInvitation`, with the bearer. *Extension*. */
export const policyInvitations = '/api/policy/invitations'
/** `POST` of `WithdrawInvitationRequest` with the bearer: who came in with it is out. *Extension*. */
export const withdrawInvitation = '/api/policy/invitations/withdraw'
/** `GET` with the bearer: `PolicyDecisionsResponse`. *Extension*. */
export const policyDecisions = '/api/policy/decisions'
/** `GET` with the bearer: `PolicyChangesResponse`. *Extension*. */
export const policyChanges = '/api/policy/changes'
/** `GET` with the bearer: `AuditResponse`. *Extension*. */
export const policyAudit = '/api/policy/audit'
/** `GET`: `DomainResponse`. */
export const domain = '/sdk/domain'
/** `POST` of `RegisterChallengeRequest`: `RegisterChallengeResponse`, with 201. */
export const registerChallenge = '/sdk/register/challenge'
/** `POST` of `RegisterRequest`: `RegisterResponse`, with 201. */
export const register = '/sdk/register'
/** `POST` of `RenewRequest`: `RenewResponse`. */
export const renew = '/sdk/renew'
/** `POST` of `ReverseEndpointRequest`: `ReverseEndpoint`. */
export const reverse = '/sdk/reverse'
/** *Extension* `custom_domains`: `POST` of `CustomDomainsRequest`: `CustomDomainsResponse`. */
export const customDomains = '/sdk/domains'
/** `POST` of `UnregisterRequest`: `{}`. */
export const unregister = '/sdk/unregister'
/** `GET` of HTTP/1.1 with a reverse capability: the upgrade to a native reverse session or a browser carrier. */
export const connect = '/sdk/connect'
/**
 * `GET`: the chain that sites present, as PEM, leaf first (docs/protocol.md §10.1). *Extension*: with the lease token, the
 * chain of that lease.
 */
export const certificateChain = '/sdk/certificate-chain'
/**
 * *Extension* `site_certificate`: `POST` of `SiteCertificateRequest` with the lease token: `SiteCertificate` with 200, or
 * `SiteCertificatePending` with 202.
 */
export const siteCertificate = '/sdk/certificate'
/** `POST` of `SignRequest` with the lease token: `SignResponse` or `SignFailure`, outside the envelope. */
export const sign = '/v1/sign'
/** `POST`, `PUT` and `DELETE` with the lease token: the static cache of a site (docs/protocol.md §15.1). */
export const cache = '/sdk/cache'
/**
 * `POST` and `DELETE` of a signed HopRoute, from relay to relay in the overlay (docs/protocol.md §18). `GET` with an upgrade
 * to {@link HOP_UPGRADE} forwards a visitor.
 */
export const hop = '/sdk/hop'
/** *Extension* `hop_routes`: `POST` of `HopRouteRequest` with the lease token. */
export const hopRoute = '/sdk/route'
/**
 * *Extension* `hop_routes`: `GET` of HTTP/1.1 with the lease token, the upgrade to {@link NEIGHBOUR_UPGRADE}, and the origin of a
 * relay: the connection then leads to the public port of that relay, over the overlay. Between relays it is in the overlay.
 */
export const neighbour = '/sdk/route/relay'
/** `GET`: `DiscoveryResponse`. */
export const discovery = '/discovery'
/** `POST` of a relay's version and signed descriptor: 202 (docs/protocol.md §14.1). */
export const announce = '/discovery/announce'
/** `GET` with the query `site`: `SitePresence`. *Extension*. */
export const discoverySite = '/discovery/site'
/**
 * The prefix of `GET /go/<canonical label>` and of paths below that, which lead a visitor to a relay that has the site, outside the
 * envelope. *Extension*.
 */
export const go = '/go/'
/** The payment facilitator of a relay that has one; its endpoints are below it, outside the envelope (docs/protocol.md §19.1). */
export const x402 = '/api/x402'
/** `GET`: the kinds of payments that the facilitator accepts. */
export const x402Supported = '/api/x402/supported'
/** `POST` of a payment: whether it is valid. */
export const x402Verify = '/api/x402/verify'
/** `POST` of a payment: settles it, once. */
export const x402Settle = '/api/x402/settle'
/** `POST` of a sender and a site's requirements: the transaction to sign. *Extension*. */
export const x402Prepare = '/api/x402/prepare'
