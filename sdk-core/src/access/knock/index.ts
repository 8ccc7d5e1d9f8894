// Asks the owner of a site whether a visitor may come in.

import type { SiteOptions } from '../../site/options.ts'
import type { Knocking } from './knocking.ts'
import { KnockEvent } from './visitor.ts'

export { Knocking } from './knocking.ts'

/** Returns the options of a site that lists who waits, and dispatches `knock`. */
export function knockingSite(options: SiteOptions, knocking: Knocking): SiteOptions {
  return {
    ...options,
    onSite: (site) => {
      Object.defineProperty(site, 'knocks', { get: () => knocking.visitors, enumerable: true })
      knocking.onKnock = (visitor) => site.dispatchEvent(new KnockEvent(visitor))
      site.addEventListener('statechange', () => {
        if (site.state === 'closed') knocking.close()
      })
      options.onSite?.(site)
    },
  }
}
