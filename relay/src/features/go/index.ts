// `/go/` to sites of other relays, and the questions of other relays for sites, as a feature. A relay without discovery loads
// none of its code.

import type { ApiParts } from '../../core/api/endpoint-handler.ts'
import type { SitesElsewhere } from '../../core/go/go.ts'
import { SitesHere } from '../../core/go/sites-here.ts'
import type { Feature } from '../../feature.ts'
import { discovery } from '../discovery/index.ts'
import { overlay } from '../overlay/index.ts'

export const go: Feature = {
  needs: [discovery, overlay],
  isOn: (...relay) => discovery.isOn(...relay),
  start: async ({ state, visitors, isClosing }, running) => {
    const [{ renderElsewherePage }, { createSiteQuestion }, { PresentSites }] = await Promise.all([
      import('./elsewhere-page.ts'),
      import('./site-question.ts'),
      import('./present-sites.ts'),
    ])
    const { relays, sites: search } = running.get(discovery)!
    const hops = running.get(overlay)?.hops
    const isReachedByRelay: SitesElsewhere['isReachedByRelay'] = (lease) =>
      hops?.isReachedByRelay(lease) === true
    const here = new SitesHere({ ...state, visitors, isReachedByRelay, isClosing })
    const sites = new PresentSites({ ...state, here })
    return {
      extensions: ['site_statement'],
      handlers: (api: ApiParts) => ({ discoverySite: createSiteQuestion({ ...api, sites }) }),
      sitesElsewhere: {
        find: (...site) => search.find(...site),
        otherRelays: () => Array.from(relays, (relay) => relay.origin),
        isReachedByRelay,
        isBarred: (label) => sites.isBarred(label),
        renderPage: renderElsewherePage,
      },
    }
  },
}
