// Formats and parses the entry of a snapshot in Redis: `<end> <name of the machine or -> <time of the change>
// <sealed JSON>`. The times are Redis's; `-` stands for a snapshot that was removed.

import { z } from '../../../core/config/schema.ts'
import type { RedisKeys } from '../redis/keys.ts'
import type { Seal } from '../shared/seal.ts'

export interface SnapshotEntry {
  identityKey: string
  /** Time of the change that the entry records: the latest one counts. */
  changed: number
  /** Undefined when its site has removed it, or no machine has it any more. */
  snapshot: DescribedSnapshot | undefined
}

interface DescribedSnapshot {
  /** By Redis's clock. */
  expires: number
  /** Name of the machine that has it. */
  machine: string
  digest: string
  files: number
  bytes: number
  /** Wall clock. */
  publishedAt: number
}

const NO_MACHINE = '-'
const ENTRY = /^((\d{1,15}) (\S+) (\d{1,15})) (\S+)$/
/** Unknown members are those of a newer version. */
const schema = z.object({
  identityKey: z.string(),
  snapshot: z
    .object({
      machine: z.string(),
      digest: z.string(),
      files: z.number().default(0),
      bytes: z.number().default(0),
      publishedAt: z.number().default(0),
    })
    .optional(),
})

interface SealParts {
  seal: Seal
  keys: RedisKeys
}

export function formatSnapshotEntry(
  { seal, keys }: SealParts,
  { identityKey, changed, snapshot }: SnapshotEntry,
): string {
  const machine = snapshot === undefined ? NO_MACHINE : keys.machineName(snapshot.machine)
  const clear = `${Math.round(snapshot?.expires ?? 0)} ${machine} ${Math.round(changed)}`
  // The schema drops members that do not belong in the entry.
  const text = JSON.stringify(schema.parse({ identityKey, snapshot }))
  return `${clear} ${seal.close('snapshot', keys.identityName(identityKey), clear, text)}`
}

/**
 * @param identityName name under which the entry is stored
 * @returns undefined when no machine wrote it there, or this version cannot read it
 */
export function parseSnapshotEntry(
  { seal }: SealParts,
  identityName: string,
  entry: string,
): SnapshotEntry | undefined {
  const [, clear = '', expires, , changed, sealed = ''] = ENTRY.exec(entry) ?? []
  const text = seal.open('snapshot', identityName, clear, sealed)
  const read = text === undefined ? undefined : schema.safeParse(JSON.parse(text)).data
  if (read === undefined) return undefined
  const { identityKey, snapshot } = read
  return {
    identityKey,
    changed: Number(changed),
    snapshot: snapshot && { ...snapshot, expires: Number(expires) },
  }
}
