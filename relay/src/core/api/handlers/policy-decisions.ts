// Pages the policy's decisions, sorted by the identity key, address, relay or domain that they apply to.

import type { BanDetails, BanList, PolicyDecisionsResponse } from '@svc/protocol'
import { fillPage } from '../http/pagination.ts'

const BANS = ['banned', 'banned_ips', 'banned_relays', 'banned_domains'] as const
const LISTS = ['approved', 'denied', ...BANS] as const

/** All decisions on one identity or address. */
interface Decisions {
  subject: string
  lists: (typeof LISTS)[number][]
  bps: number | undefined
  bans: Partial<Record<BanList, BanDetails>>
}

/** @param after the last identity key or address of the previous page; empty for the first page */
export function pageOfDecisions(all: PolicyDecisionsResponse, after: string): PolicyDecisionsResponse {
  const sets = LISTS.map((name) => [name, new Set(all[name])] as const)
  const subjects = new Set([...LISTS.flatMap((name) => all[name]), ...Object.keys(all.bps)])
  const following = [...subjects].filter((subject) => subject > after).sort()
  const decisions = following.map((subject): [string, Decisions] => {
    const lists = sets.filter(([, members]) => members.has(subject)).map(([name]) => name)
    return [subject, { subject, lists, bps: all.bps[subject], bans: bansOf(subject, all) }]
  })
  const { items, next } = fillPage(decisions)
  const listed = (name: (typeof LISTS)[number]): string[] =>
    items.filter(({ lists }) => lists.includes(name)).map(({ subject }) => subject)
  const details = (list: BanList): Record<string, BanDetails> =>
    Object.fromEntries(items.flatMap(({ subject, bans }) => (bans[list] ? [[subject, bans[list]]] : [])))
  return {
    approved: listed('approved'),
    denied: listed('denied'),
    banned: listed('banned'),
    banned_ips: listed('banned_ips'),
    banned_relays: listed('banned_relays'),
    banned_domains: listed('banned_domains'),
    bps: Object.fromEntries(items.flatMap(({ subject, bps }) => (bps === undefined ? [] : [[subject, bps]]))),
    ban_details: items.some(({ bans }) => Object.keys(bans).length > 0)
      ? {
          banned: details('banned'),
          banned_ips: details('banned_ips'),
          banned_relays: details('banned_relays'),
          banned_domains: details('banned_domains'),
        }
      : undefined,
    next,
  }
}

/** The details of the bans of a subject, by the list that has each. */
function bansOf(
  subject: string,
  { ban_details }: PolicyDecisionsResponse,
): Partial<Record<BanList, BanDetails>> {
  const known = BANS.flatMap((list) => {
    const details = ban_details?.[list]
    return details !== undefined && Object.hasOwn(details, subject) ? [[list, details[subject]!]] : []
  })
  return Object.fromEntries(known)
}
