// The share links of the tunnels of this process, for the socket of `svc share` and for the agent.

import { type ShareLink, type ShareOptions, SvcError } from '@svc/sdk-core'
import type { AgentShare, MadeShare } from '../../agent/api-messages.ts'
import type { SiteEntry, StatusStore } from '../report/status-store.ts'

/** A site of a tunnel with access. The sites of one tunnel have the same links. */
export interface SharedSite {
  tunnel: string | undefined
  url: string
}

/** Returns the sites for which links can be made. */
export function sharedSites(store: StatusStore): SharedSite[] {
  return store.shared.flatMap(({ tunnel, site }) => (site?.url ? [{ tunnel, url: site.url }] : []))
}

/** Returns the links of all tunnels, without their secrets. */
export function sharesOf(store: StatusStore): AgentShare[] {
  return tunnelsOf(store).flatMap(({ tunnel, site }) =>
    (site?.shares ?? []).map((link) => describe(tunnel, link)),
  )
}

/**
 * Makes a link for the first site that `isWanted` takes.
 * @throws SvcError `invalid_option` when there is none or the options are wrong, or when the link cannot be kept
 */
export async function makeShare(
  store: StatusStore,
  isWanted: (site: SharedSite) => boolean,
  options: ShareOptions,
): Promise<MadeShare> {
  const found = store.shared.find(({ tunnel, site }) => site?.url && isWanted({ tunnel, url: site.url }))
  if (!found?.site) throw new SvcError('invalid_option', 'the tunnel is not online')
  const { tunnel, site } = found
  const { id, url } = await site.share!(options)
  const link = site.shares?.find((each) => each.id === id)
  if (!link) throw new SvcError('invalid_option', 'the link was withdrawn meanwhile')
  return { ...describe(tunnel, link), url }
}

/**
 * Withdraws a link, and resolves with whether there was one.
 * @throws SvcError when it cannot be removed from the file, and is valid again after the next start
 */
export async function withdrawShare(store: StatusStore, id: string): Promise<boolean> {
  const all = tunnelsOf(store).filter(({ site }) => site?.shares?.some((link) => link.id === id))
  for (const { site } of all)
    await site?.unshare?.(id).catch((cause) => {
      const message = `${id} is withdrawn, but is valid again after the next start: ${cause.message}`
      throw new SvcError('identity_unavailable', message, { cause })
    })
  return all.length > 0
}

/** Returns the first entry of each tunnel with access. */
function tunnelsOf(store: StatusStore): SiteEntry[] {
  return [...Map.groupBy(store.shared, ({ tunnel }) => tunnel).values()].map(([first]) => first!)
}

function describe(
  tunnel: string | undefined,
  { id, note, once, until, createdAt, uses, lastUse }: ShareLink,
): AgentShare {
  return {
    tunnel,
    id,
    note,
    once,
    until: until?.toISOString(),
    created_at: createdAt.toISOString(),
    uses,
    used_at: lastUse?.at.toISOString(),
    address: lastUse?.address,
  }
}
