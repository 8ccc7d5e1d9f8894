// Joins the decisions of the policy that come in several pages.
import type { BanList, PolicyDecisionsResponse } from '@svc/protocol'

export function joinDecisions(pages: readonly PolicyDecisionsResponse[]): PolicyDecisionsResponse {
  const details = (list: BanList): NonNullable<PolicyDecisionsResponse['ban_details']>[BanList] =>
    Object.assign({}, ...pages.map(({ ban_details }) => ban_details?.[list]))
  return {
    approved: pages.flatMap(({ approved }) => approved),
    denied: pages.flatMap(({ denied }) => denied),
    banned: pages.flatMap(({ banned }) => banned),
    banned_ips: pages.flatMap(({ banned_ips }) => banned_ips),
    banned_relays: pages.flatMap(({ banned_relays }) => banned_relays),
    banned_domains: pages.flatMap(({ banned_domains }) => banned_domains),
    bps: Object.assign({}, ...pages.map(({ bps }) => bps)),
    ban_details: {
      banned: details('banned'),
      banned_ips: details('banned_ips'),
      banned_relays: details('banned_relays'),
      banned_domains: details('banned_domains'),
    },
  }
}
