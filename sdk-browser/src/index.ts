// @svc/sdk-browser: publish an HTTPS server from a web page.

export type { DebugEvent } from './debug.ts'
export { type OwnErrorCode, SvcError, type SvcErrorCode } from './errors.ts'
export type { FetchHandler, FetchInfo } from './http/connection.ts'
export type { PublishOptions } from './options.ts'
export { publish } from './publish.ts'
export type {
  ConnectionStats,
  Site,
  SiteErrorEvent,
  SiteEventMap,
  SitePressureEvent,
  SiteState,
  SiteStats,
} from './site.ts'
export type { Waiting, WaitingReason } from './waiting.ts'
export type { SocketErrorEvent, SocketEventMap, VisitorSocket } from './websocket/events.ts'
export type { Upgraded, UpgradeOptions } from './websocket/upgrade.ts'
