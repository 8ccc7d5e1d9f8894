// `publish` for Node: the same as in a page, plus what only Node can be told.

import type { PublishOptions, Site } from '@svc/sdk-browser'
import { publishOn } from '@svc/sdk-browser/platform'
import { type NodeOptions, nodePlatform } from './platform.ts'

export type NodePublishOptions = PublishOptions & NodeOptions

/**
 * Publishes `options.fetch` as an HTTPS site; TLS ends in this process.
 * Resolves when visitors can come.
 * @throws SvcError with a stable `code`
 */
export async function publish(options: NodePublishOptions): Promise<Site> {
  return publishOn(nodePlatform(options), options)
}
