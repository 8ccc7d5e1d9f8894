// The options of `publish` for several relays, checked.

import { SvcError } from '../errors.ts'
import { explained } from '../explained.ts'
import type { PublishOptions, SiteOptions } from '../site/options.ts'
import { relayUrl } from '../site/relay-url.ts'
import { DISCOVER_MAX } from './limits.ts'

/** RelaysOptions are the options of a site at several relays. */
export interface RelaysOptions extends SiteOptions {
  /** All relays that the caller named, each once. */
  relays: readonly URL[]
  /** The number of other relays. */
  discover: number
}

/** @throws SvcError `invalid_option` that names the option and the reason */
export async function parseRelaysOptions(
  options: SiteOptions,
  given: PublishOptions,
): Promise<RelaysOptions> {
  const { relays: further } = given
  if (further && !Array.isArray(further))
    throw new SvcError('invalid_option', 'relays must be an array of URLs')
  const relays: URL[] = []
  for (const relay of [given.relay, ...(further ?? [])]) {
    const url = relayUrl(relay)
    if (url === undefined) throw await explained('invalid_option', ['wrongRelay', relay])
    if (relays.every(({ origin }) => origin !== url.origin)) relays.push(url)
  }
  return { ...options, relays, discover: parseDiscover(given.discover) }
}

/** @throws SvcError `invalid_option` */
export function parseDiscover(discover: number = 0): number {
  if (!Number.isInteger(discover) || discover < 0 || discover > DISCOVER_MAX)
    throw new SvcError('invalid_option', `discover must be a whole number from 0 to ${DISCOVER_MAX}`)
  return discover
}
