// Finds the facilitator of a site: the one that its options name, or that of its relay.

import { type Facilitator, facilitatorAt } from '@svc/payment/client'
import { SvcError } from '../../errors.ts'
import { isUrl } from '../../platform-objects.ts'
import { withHiddenResource } from './facilitator-at.ts'
import { FACILITATOR_RETRY_MS } from './limits.ts'
import type { PaidOptions } from './options.ts'
import { relayFacilitator } from './relay-facilitator.ts'

/** @param canonicalUrl of the site, by which its relay is found */
export type FacilitatorOf = (canonicalUrl: string) => Promise<Facilitator>

/** @throws SvcError `invalid_option` for what is neither a facilitator nor a URL of one */
export function facilitatorOf({ facilitator, payTo, network = 'sui:mainnet' }: PaidOptions): FacilitatorOf {
  if (facilitator === undefined)
    return foundOnce((canonicalUrl) => relayFacilitator(relayOf(canonicalUrl), { payTo, network }))
  if (typeof facilitator === 'string' || isUrl(facilitator)) {
    const remote = Promise.resolve(withHiddenResource(facilitatorAt(parseUrl(facilitator))))
    return () => remote
  }
  if (typeof facilitator?.verify !== 'function' || typeof facilitator.settle !== 'function')
    throw new SvcError('invalid_option', 'facilitator is neither one nor the URL of one')
  return async () => facilitator
}

interface Search {
  facilitator: Promise<Facilitator>
  /** The time of `performance.now()` from which a request may search again. */
  until: number
}

/** Searches once for each site, and again after a failure. */
function foundOnce(find: FacilitatorOf): FacilitatorOf {
  const found = new Map<string, Search>()
  return (canonicalUrl) => {
    const { origin } = new URL(canonicalUrl)
    const known = found.get(origin)
    if (known && performance.now() < known.until) return known.facilitator
    const search: Search = { facilitator: find(canonicalUrl), until: Number.POSITIVE_INFINITY }
    search.facilitator.catch(() => {
      search.until = performance.now() + FACILITATOR_RETRY_MS
    })
    found.set(origin, search)
    return search.facilitator
  }
}

/** The canonical hostname of a site is one label below the host of its relay. */
function relayOf(canonicalUrl: string): URL {
  const url = new URL(canonicalUrl)
  url.hostname = url.hostname.slice(url.hostname.indexOf('.') + 1)
  return url
}

function parseUrl(text: string | URL): URL {
  const url = URL.parse(String(text))
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new SvcError(
      'invalid_option',
      'facilitator has to be an http(s) URL without credentials, query or fragment',
    )
  return url
}
