// The options of `publish` for several relays, checked.

import { SvcError } from '../errors.ts'
import type { Platform } from '../platform.ts'
import type { PublishOptions, SiteOptions } from '../site/options.ts'
import { parseRelays } from '../site/relay-option.ts'
import type { Site } from '../site/site.ts'
import { DISCOVER_MAX } from './limits.ts'

/** RelaysOptions are the options of a site at several relays. */
export interface RelaysOptions extends SiteOptions {
  /** All relays that the caller named, each once. */
  relays: readonly URL[]
  /** The number of other relays. */
  discover: number
}

/** Publishes the site at one relay. Resolves when visitors can connect there. */
export type PublishAtRelay = (platform: Platform, options: SiteOptions) => Promise<Site>

/** @throws SvcError `invalid_option` that names the option and the reason */
export function parseRelaysOptions(options: SiteOptions, given: PublishOptions): RelaysOptions {
  const relays = parseRelays([given.relay, ...(given.relays ?? [])])
  return { ...options, relays, discover: parseDiscover(given.discover) }
}

/** @throws SvcError `invalid_option` */
export function parseDiscover(discover: number = 0): number {
  if (!Number.isInteger(discover) || discover < 0 || discover > DISCOVER_MAX)
    throw new SvcError('invalid_option', `discover must be a whole number from 0 to ${DISCOVER_MAX}`)
  return discover
}
