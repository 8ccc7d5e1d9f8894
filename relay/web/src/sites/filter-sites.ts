// Filters sites by a search in their metadata and by tags.
import type { Lease } from '@svc/protocol'
import { sanitizeText } from '../common/sanitize-text.ts'

/** The number of tags on the page, most common first. */
const TAGS_MAX = 12

export interface Filter {
  search: string
  /** The tags that a site must have, all of them. */
  tags: readonly string[]
}

/** @returns the sites that match, the newest first */
export function filterSites<T extends Lease>(leases: readonly T[], { search, tags }: Filter): T[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const matches = (lease: T): boolean => {
    if (tags.length === 0 && words.length === 0) return true
    const own = tagsOf(lease)
    if (!tags.every((tag) => own.includes(tag))) return false
    const { description = '', owner = '' } = lease.metadata
    const text = [lease.name, lease.hostname, description, owner, ...own].join('\n').toLowerCase()
    return words.every((word) => text.includes(word))
  }
  return leases.filter(matches).sort(newestFirst)
}

/** @param chosen tags that stay in the result, so that the user can deselect them */
export function commonTags(leases: readonly Lease[], chosen: readonly string[]): string[] {
  // Counts the raw tags first, so that each is sanitized once: there are far fewer tags than leases.
  const written = new Map<string, number>()
  for (const { metadata } of leases)
    for (const tag of metadata.tags ?? []) written.set(tag, (written.get(tag) ?? 0) + 1)
  const counts = new Map<string, number>()
  for (const [tag, count] of written) {
    const name = sanitizeText(tag)
    if (name !== '' && !chosen.includes(name)) counts.set(name, (counts.get(name) ?? 0) + count)
  }
  const others = [...counts].sort(([a, many], [b, few]) => few - many || (a < b ? -1 : 1))
  return [...chosen, ...others.slice(0, Math.max(0, TAGS_MAX - chosen.length)).map(([tag]) => tag)]
}

/** Returns the distinct tags of a site. */
export function tagsOf({ metadata }: Lease): string[] {
  return [...new Set((metadata.tags ?? []).map(sanitizeText).filter(Boolean))]
}

function newestFirst(a: Lease, b: Lease): number {
  if (a.first_seen_at !== b.first_seen_at) return a.first_seen_at > b.first_seen_at ? -1 : 1
  return a.hostname < b.hostname ? -1 : 1
}
