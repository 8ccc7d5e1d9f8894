// Compares two policies field by field, for the audit log.

import type { PolicyFile } from './policy-file.ts'

/** Members of one list in policy.json whose addition or removal the audit log names one by one. */
const AUDIT_MEMBERS_MAX = 100
/** Characters of a hash in the audit log. */
const DIGEST_CHARS = 8

type Change = { from: unknown; to: unknown } | { added: string[]; removed: string[]; more?: number }

/** The changed fields of a policy, each with its change. */
export type FileChanges = Partial<Record<keyof PolicyFile, Change>>

/** Names at most {@link AUDIT_MEMBERS_MAX} members of a list; `more` counts those that it leaves out. */
export function differenceOf(before: PolicyFile, after: PolicyFile): FileChanges {
  const changes: FileChanges = {}
  for (const field of Object.keys(after) as (keyof PolicyFile)[]) {
    const change = changeOf(fieldOf(before, field), fieldOf(after, field))
    if (change !== undefined) changes[field] = change
  }
  return changes
}

/** The bans of all lists side by side, each with its details. */
function fieldOf(file: PolicyFile, field: keyof PolicyFile): unknown {
  if (field !== 'ban_details') return file[field]
  const bans = Object.values(file.ban_details).flatMap((known) => Object.entries(known ?? {}))
  return Object.fromEntries(bans)
}

function changeOf(from: unknown, to: unknown): Change | undefined {
  if (typeof from !== 'object' || typeof to !== 'object') return from === to ? undefined : { from, to }
  const [old, now] = [membersOf(from), membersOf(to)]
  const added = [...now].filter((member) => !old.has(member))
  const removed = [...old].filter((member) => !now.has(member))
  if (added.length + removed.length === 0) return undefined
  const shown = { added: added.slice(0, AUDIT_MEMBERS_MAX), removed: removed.slice(0, AUDIT_MEMBERS_MAX) }
  const more = added.length + removed.length - shown.added.length - shown.removed.length
  return more > 0 ? { ...shown, more } : shown
}

/** The members of a list, or those of a record as `key=value`. Of the hash of a token, the start tells it from another. */
function membersOf(value: object | null): Set<string> {
  if (Array.isArray(value)) return new Set(value.map(textOf))
  return new Set(Object.entries(value ?? {}).map(([key, one]) => `${key}=${textOf(one)}`))
}

function textOf(value: unknown): string {
  if (typeof value !== 'object') return `${value}`
  return JSON.stringify(value, (name, part) =>
    name === 'token_sha256' ? `${part}`.slice(0, DIGEST_CHARS) : part,
  )
}
