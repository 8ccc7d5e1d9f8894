// Formats the entry of a snapshot in the engine, and parses it: `<end by the engine's clock> <JSON>`, or that it was removed.

import { z } from '../../config/schema.ts'

interface SnapshotEntry {
  /** By the engine's clock. */
  expires: number
  /** Name of the machine that has it. */
  machine: string
  hostname: string
  digest: string
  files: number
  bytes: number
  /** Wall clock. */
  publishedAt: number
}

/** The entry of a snapshot that its site has removed, or that no machine has any more. */
export const NO_SNAPSHOT = '-'
const ENTRY = /^(\d{1,15}) (.*)$/s
/** Unknown members are those of a newer version. */
const schema = z.object({
  machine: z.string(),
  hostname: z.string(),
  digest: z.string(),
  files: z.number().default(0),
  bytes: z.number().default(0),
  publishedAt: z.number().default(0),
})

export function formatSnapshotEntry({ expires, ...described }: SnapshotEntry): string {
  return `${Math.round(expires)} ${JSON.stringify(described)}`
}

/** The part of an entry by which it names a machine. */
export function namesMachine(machine: string): string {
  return `"machine":${JSON.stringify(machine)}`
}

/** @returns undefined for {@link NO_SNAPSHOT}, and for what is no entry */
export function parseSnapshotEntry(text: string): SnapshotEntry | undefined {
  const [, expires, json] = ENTRY.exec(text) ?? []
  if (expires === undefined || json === undefined) return undefined
  try {
    return { ...schema.parse(JSON.parse(json)), expires: Number(expires) }
  } catch {
    return undefined
  }
}
