// What an edit of policy.json has changed, field by field.

import { AUDIT_MEMBERS_MAX } from '../limits.ts'
import type { PolicyFile } from './policy-file.ts'

type Change = { from: unknown; to: unknown } | { added: string[]; removed: string[]; more?: number }

/** Field of the policy → what is different. */
export type FileChanges = Partial<Record<keyof PolicyFile, Change>>

/** Long lists are told in part: `more` says how many members are left out. */
export function differenceOf(before: PolicyFile, after: PolicyFile): FileChanges {
  const changes: FileChanges = {}
  for (const field of Object.keys(after) as (keyof PolicyFile)[]) {
    const change = changeOf(before[field], after[field])
    if (change !== undefined) changes[field] = change
  }
  return changes
}

function changeOf(from: unknown, to: unknown): Change | undefined {
  if (typeof from !== 'object' || typeof to !== 'object') return from === to ? undefined : { from, to }
  const [old, now] = [membersOf(from), membersOf(to)]
  const added = [...now].filter((member) => !old.has(member))
  const removed = [...old].filter((member) => !now.has(member))
  if (added.length + removed.length === 0) return undefined
  const told = { added: added.slice(0, AUDIT_MEMBERS_MAX), removed: removed.slice(0, AUDIT_MEMBERS_MAX) }
  const more = added.length + removed.length - told.added.length - told.removed.length
  return more > 0 ? { ...told, more } : told
}

/** Of a list its members, of limits `identity=bytes`. */
function membersOf(value: object | null): Set<string> {
  if (Array.isArray(value)) return new Set(value)
  return new Set(Object.entries(value ?? {}).map(([key, bps]) => `${key}=${bps}`))
}
