// `/go/` and the questions of other relays for sites, as a feature. A relay without discovery loads none of its code.

import type { ApiParts } from '../../core/api/endpoint-handler.ts'
import type { Feature } from '../../feature.ts'
import { discovery } from '../discovery/index.ts'
import { overlay } from '../overlay/index.ts'

export const go: Feature = {
  needs: [discovery, overlay],
  isOn: (...relay) => discovery.isOn(...relay),
  start: async ({ settings, state, visitors, isClosing }, running) => {
    const [{ createGo }, { createSiteQuestion }, { PresentSites }] = await Promise.all([
      import('./go.ts'),
      import('./site-question.ts'),
      import('./present-sites.ts'),
    ])
    const { origin } = settings.url
    const { relays, sites: search, visits } = running.get(discovery)!
    const hops = running.get(overlay)?.hops
    const sites = new PresentSites({
      ...state,
      visitors,
      isReachedByRelay: (lease) => hops?.isReachedByRelay(lease) === true,
      isClosing,
    })
    return {
      extensions: ['site_statement'],
      handlers: (api: ApiParts) => ({ discoverySite: createSiteQuestion({ ...api, sites }) }),
      pages: (next, api) =>
        createGo(
          {
            ...api,
            origin,
            sites,
            search,
            otherRelays: () => Array.from(relays, (relay) => relay.origin),
            onOutcome: (outcome) => {
              visits[outcome] += 1
            },
          },
          next,
        ),
    }
  },
}
