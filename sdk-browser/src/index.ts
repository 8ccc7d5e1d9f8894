// @svc/sdk-browser: publish an HTTPS server from a web page.

export {
  type ConnectionStats,
  type DebugEvent,
  type FetchHandler,
  type FetchInfo,
  type OwnErrorCode,
  type PublishOptions,
  type Site,
  type SiteErrorEvent,
  type SiteEventMap,
  type SitePressureEvent,
  type SiteState,
  type SiteStats,
  type SocketErrorEvent,
  type SocketEventMap,
  SvcError,
  type SvcErrorCode,
  type Upgraded,
  type UpgradeOptions,
  type VisitorSocket,
  type Waiting,
  type WaitingReason,
} from '@svc/sdk-core'
export { publish } from './publish.ts'
