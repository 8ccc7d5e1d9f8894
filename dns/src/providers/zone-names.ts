// Names of zones and of records in them.

import { ZONE_LABELS_MAX } from './limits.ts'

const LABELS_MIN = 2

/** The names that the zone of a host may have: the host and each name above it, but no top-level domain. */
export function zoneCandidates(host: string): string[] {
  const labels = host.split('.').slice(-ZONE_LABELS_MAX)
  return labels.slice(0, Math.max(0, labels.length - LABELS_MIN + 1)).map((_, i) => labels.slice(i).join('.'))
}

/** The name relative to the zone. @param apex the result for the zone's own name */
export function relativeName(name: string, zone: string, apex: string): string {
  return name === zone ? apex : name.slice(0, -zone.length - 1)
}

/** A host name in lower case, without a trailing dot. */
export function plainName(name: string): string {
  const lower = name.toLowerCase()
  return lower.endsWith('.') ? lower.slice(0, -1) : lower
}
