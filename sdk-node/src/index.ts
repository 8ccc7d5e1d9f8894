// @svc/sdk-node: publish an HTTPS server from Node.

export {
  type DebugEvent,
  type PublishOptions,
  type Site,
  type SiteErrorEvent,
  type SiteState,
  type SiteStats,
  SvcError,
} from '@svc/sdk-browser'
export { type NodePublishOptions, publish } from './publish.ts'
