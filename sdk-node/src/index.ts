// @svc/sdk-node: publish an HTTPS server from Node.

export {
  type AccessOptions,
  type AcmeOptions,
  type BroughtDomain,
  type CaaRecord,
  type CacheContent,
  type CacheFiles,
  type CacheLimits,
  type CacheOptions,
  type CacheStatus,
  type ClientCertificate,
  type ClientCertificateOptions,
  type ConnectionStats,
  type DebugEvent,
  type DomainCertificate,
  type DomainDns,
  type FetchInfo,
  type KnockEvent,
  type KnockingVisitor,
  type OidcOptions,
  type PublishOptions,
  type RemoteAddress,
  type ShareLink,
  type ShareOptions,
  type ShareUse,
  type Sharing,
  type Site,
  type SiteCache,
  type SiteDomain,
  type SiteErrorEvent,
  type SitePressureEvent,
  type SiteState,
  type SiteStats,
  SvcError,
  type TrafficRules,
  type UrlsChange,
  type VisitorUser,
  type Waiting,
  type WaitingReason,
} from '@svc/sdk-core'
export type { CarrierKind } from './carrier/kinds.ts'
export type { UdpFlow } from './datagram/local-flows.ts'
export { type ExposeFailure, type Exposure, expose } from './expose/expose.ts'
export type { ExposeOptions, ProbeReport } from './expose/options.ts'
export { type FolderOptions, openFolder } from './folder/folder-handle.ts'
export type { HoldReport } from './hold/hold.ts'
export type { HoldAnswer, HoldOptions } from './hold/options.ts'
export type { SiteFetch } from './net/site-fetch.ts'
export type { ProbeVerdict } from './probe/self-probe.ts'
export { type NodePublishOptions, type NodeSite, publish } from './publish.ts'
export type { OnRequest, RequestReport } from './target/request-reports.ts'
export type { Routes, RouteTarget } from './target/routes.ts'
export type { HostHeader } from './target/target-origin.ts'
export type { ProxyProtocol } from './target/tcp-target.ts'
