// `publish` for Node: the same as in a page, with the options that only Node has.

import type { PublishOptions, Site } from '@svc/sdk-core'
import { publishOn } from '@svc/sdk-core'
import { type NodeOptions, nodePlatform } from './platform.ts'

/** NodePublishOptions are the options of `publish` in Node: those of a page, and what only Node has. */
export type NodePublishOptions = PublishOptions & NodeOptions

/**
 * Publishes `options.fetch` as an HTTPS site; TLS ends in this process.
 * Resolves when visitors can come.
 * @throws SvcError with a stable `code`
 */
export async function publish(options: NodePublishOptions): Promise<Site> {
  return publishOn(nodePlatform(options), options)
}
