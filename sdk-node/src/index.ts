// @svc/sdk-node: publish an HTTPS server from Node.

export {
  type PublishOptions,
  type Site,
  type SiteErrorEvent,
  type SiteState,
  SvcError,
} from '@svc/sdk-browser'
export { type NodePublishOptions, publish } from './publish.ts'
