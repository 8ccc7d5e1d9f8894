// The operator's decisions, page by page, in the order of whom they are about.

import type { PolicyDecisionsResponse } from '@svc/protocol'
import { fillPage } from '../http/pagination.ts'

const LISTS = ['approved', 'denied', 'banned', 'banned_ips'] as const

/** What was decided about one identity or address. */
interface Decided {
  subject: string
  lists: (typeof LISTS)[number][]
  bps: number | undefined
}

/** @param after the identity key or address that the page before ended with; empty for the first page */
export function pageOfDecisions(all: PolicyDecisionsResponse, after: string): PolicyDecisionsResponse {
  const sets = LISTS.map((name) => [name, new Set(all[name])] as const)
  const subjects = new Set([...LISTS.flatMap((name) => all[name]), ...Object.keys(all.bps)])
  const following = [...subjects].filter((subject) => subject > after).sort()
  const decided = following.map((subject): [string, Decided] => {
    const lists = sets.filter(([, members]) => members.has(subject)).map(([name]) => name)
    return [subject, { subject, lists, bps: all.bps[subject] }]
  })
  const { items, next } = fillPage(decided)
  const listed = (name: (typeof LISTS)[number]): string[] =>
    items.filter(({ lists }) => lists.includes(name)).map(({ subject }) => subject)
  return {
    approved: listed('approved'),
    denied: listed('denied'),
    banned: listed('banned'),
    banned_ips: listed('banned_ips'),
    bps: Object.fromEntries(items.flatMap(({ subject, bps }) => (bps === undefined ? [] : [[subject, bps]]))),
    next,
  }
}
