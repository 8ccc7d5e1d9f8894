// Pages the policy's decisions, sorted by the identity key, address, relay or domain that they apply to.

import type { PolicyDecisionsResponse } from '@svc/protocol'
import { fillPage } from '../http/pagination.ts'

const LISTS = ['approved', 'denied', 'banned', 'banned_ips', 'banned_relays', 'banned_domains'] as const

/** All decisions on one identity or address. */
interface Decisions {
  subject: string
  lists: (typeof LISTS)[number][]
  bps: number | undefined
}

/** @param after the last identity key or address of the previous page; empty for the first page */
export function pageOfDecisions(all: PolicyDecisionsResponse, after: string): PolicyDecisionsResponse {
  const sets = LISTS.map((name) => [name, new Set(all[name])] as const)
  const subjects = new Set([...LISTS.flatMap((name) => all[name]), ...Object.keys(all.bps)])
  const following = [...subjects].filter((subject) => subject > after).sort()
  const decisions = following.map((subject): [string, Decisions] => {
    const lists = sets.filter(([, members]) => members.has(subject)).map(([name]) => name)
    return [subject, { subject, lists, bps: all.bps[subject] }]
  })
  const { items, next } = fillPage(decisions)
  const listed = (name: (typeof LISTS)[number]): string[] =>
    items.filter(({ lists }) => lists.includes(name)).map(({ subject }) => subject)
  return {
    approved: listed('approved'),
    denied: listed('denied'),
    banned: listed('banned'),
    banned_ips: listed('banned_ips'),
    banned_relays: listed('banned_relays'),
    banned_domains: listed('banned_domains'),
    bps: Object.fromEntries(items.flatMap(({ subject, bps }) => (bps === undefined ? [] : [[subject, bps]]))),
    next,
  }
}
