// Makes what answers `/go/` and the questions of other relays for sites. A relay without discovery loads none of its code.

import type { BodyWriter } from '../core/api/http/body-writer.ts'
import type { Handler } from '../core/api/http/server.ts'
import type { RateLimits } from '../core/rate-limit/client-rate-limits.ts'
import type { Discovery } from './discovery.ts'
import type { Hops } from './hops.ts'
import type { RelayParts } from './parts.ts'

export interface GoHandlers {
  /** Answers `GET /discovery/site`. */
  siteQuestion: Handler
  /** Answers `/go/`, and leaves other paths to `next`. */
  before(next: Handler): Handler
}

export async function createGoParts(
  parts: RelayParts & {
    discovery?: Discovery | undefined
    hops?: Hops | undefined
    isClosing: () => boolean
  },
  { writer, rateLimits }: { writer: BodyWriter; rateLimits: RateLimits },
): Promise<GoHandlers | undefined> {
  const { settings, state, visitors, clientAddresses, discovery, hops, isClosing } = parts
  if (discovery === undefined) return undefined
  const [{ createGo }, { createSiteQuestion }, { PresentSites }] = await Promise.all([
    import('../features/go/go.ts'),
    import('../features/go/site-question.ts'),
    import('../features/go/present-sites.ts'),
  ])
  const { origin } = settings.url
  const sites = new PresentSites({
    ...state,
    visitors,
    isReachedByRelay: (lease) => hops?.isReachedByRelay(lease) === true,
    isClosing,
  })
  const common = { origin, sites, clientAddresses, rateLimits }
  return {
    siteQuestion: createSiteQuestion(common),
    before: (next) =>
      createGo(
        {
          ...common,
          search: discovery.sites,
          otherRelays: () => Array.from(discovery.relays, ({ origin }) => origin),
          writer,
          onOutcome: (outcome) => {
            discovery.visits[outcome] += 1
          },
        },
        next,
      ),
  }
}
