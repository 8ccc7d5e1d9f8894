// @svc/sdk-core: `publish` without a platform. The SDKs for browsers and for Node add one, and re-export the public API.

export type { ClientCertificate } from '@svc/tls'
export { browserOf } from './access/knock/browser.ts'
export type { KnockEvent, KnockingVisitor } from './access/knock/visitor.ts'
export type { OidcOptions } from './access/oidc/options.ts'
export type { AccessOptions } from './access/options.ts'
export type { ShareLink, ShareOptions, ShareUse, Sharing } from './access/share-links.ts'
export type { ByteStream } from './bytes/byte-stream.ts'
export type { CacheContent, CacheFiles, CacheOptions, CacheStatus, SiteCache } from './cache/cache-options.ts'
export type { Traffic } from './carrier/carrier-connection.ts'
export type { ConnectionEvents, ConnectionTransport } from './carrier/connection-transport.ts'
export {
  type CarrierEvents,
  type CarrierStats,
  type Connect,
  MAINTENANCE_INTERVAL_MS,
  openMultiplexedCarrier,
} from './carrier/multiplexed-carrier.ts'
export { ReadyStreams } from './carrier/ready-streams.ts'
export { type Activation, type ReadyStream, readyStream, type Visitor } from './carrier/reverse-stream.ts'
export { untilAccepted } from './carrier/until-accepted.ts'
export type { SiteKey, SiteKeyStore, SiteName, StoredSiteKey } from './certificate/site-key.ts'
export { createWebCryptoKey, siteKeyOf, type WebCryptoKey } from './certificate/web-crypto-key.ts'
export type { ClientCertificateCheck, ClientCertificateOptions } from './client-certificates/options.ts'
export { releaseOf, requireCompatible } from './control/compatibility.ts'
export type { TunnelAddress } from './control/dedicated-ports.ts'
export { isRecord, requireRecord, requireText, requireTime } from './control/json-checks.ts'
export type { CacheLimits, Registration } from './control/lease.ts'
export { LeaseKeeper } from './control/lease-keeper.ts'
export {
  type FetchFunction,
  type FetchInit,
  type FetchResponse,
  failureOf,
  parseRetryAfter,
  RelayClient,
} from './control/relay-client.ts'
export type { DomainEntry, DomainStore } from './domains/domain-store.ts'
export type {
  AcmeOptions,
  BroughtDomain,
  CaaRecord,
  DomainCertificate,
  DomainDns,
  SiteDomain,
} from './domains/options.ts'
export {
  type AskCaa,
  type CaaAnswer,
  type CaaProperty,
  caaAccount,
  caaAnswer,
  caaProblem,
  whyUnprotected,
} from './domains/protection.ts'
export {
  abortError,
  asSvcError,
  isRelayCode,
  type OwnErrorCode,
  SvcError,
  type SvcErrorCode,
} from './errors.ts'
export { CROSS_ORIGIN, type CrossOriginHandler } from './exchange/cross-origin.ts'
export {
  DIRECT,
  type DirectBody,
  type DirectExchange,
  type DirectHandler,
  type DirectlyHandled,
  type DirectRequest,
  type DirectResponse,
  type Inform,
} from './exchange/direct.ts'
export { toResponse } from './exchange/direct-response.ts'
export type {
  ExecutionContext,
  FetchHandler,
  FetchInfo,
  KnownVisitor,
  RemoteAddress,
  VisitorUser,
} from './exchange/fetch-handler.ts'
export { lossSignal } from './exchange/loss-signal.ts'
export type { BodyBatch } from './exchange/response-body.ts'
export { sentListeners } from './exchange/sent-listeners.ts'
export { documentAnswer } from './handlers/document-answer.ts'
export { isHidden } from './handlers/hidden-files.ts'
export { lineOrPage, lineOrPageContent } from './handlers/line-or-page.ts'
export { isNavigation } from './handlers/sessions/origin-checks.ts'
export { createPrivateKey, identityFromKey, type KeyIdentity, signerOf } from './identity/key.ts'
export type {
  CarrierRelay,
  DatagramCarrier,
  DatagramEvents,
  DatagramStats,
  Gateways,
  OpenCarrier,
  OpenDatagrams,
  Platform,
  ServeStream,
  SiteCarrier,
  SuspendableSite,
  TunnelLease,
} from './platform.ts'
export { type PlatformSite, publishOn } from './publish.ts'
export type { TrafficRules } from './rules/options.ts'
export { endToEnd } from './semantics/end-to-end-fields.ts'
export type { Field } from './semantics/fields.ts'
export { isGrpc } from './semantics/grpc.ts'
export { fieldsForTarget, fieldsForVisitor, type OriginView } from './semantics/origin-view.ts'
export { Backoff } from './site/backoff.ts'
export type { DebugEvent } from './site/debug-event.ts'
export type { PublishOptions, SiteMetadata } from './site/options.ts'
export { parseRelay } from './site/relay-option.ts'
export type {
  Site,
  SiteErrorEvent,
  SiteEventMap,
  SitePressureEvent,
  SiteState,
  SiteStats,
  UrlsChange,
} from './site/site.ts'
export type { Waiting, WaitingReason } from './site/waiting-reason.ts'
export type { ConnectionStats } from './tenant/connection-stats.ts'
export type { EndTls, EndTlsOptions } from './tenant/end-tls.ts'
export type { Admit, SecureInfo, SecureStream, TlsConnection } from './tenant/visitor-connection.ts'
export type { Upgraded, UpgradeOptions } from './websocket/upgrade.ts'
export type { SocketErrorEvent, SocketEventMap, VisitorSocket } from './websocket/visitor-socket.ts'
