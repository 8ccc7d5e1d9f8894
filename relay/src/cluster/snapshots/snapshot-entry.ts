// Formats the entry of a snapshot in the engine, and parses it: `<end by the engine's clock> <JSON>`.

import { z } from '../../config/schema.ts'

interface SnapshotEntry {
  /** By the engine's clock. */
  expires: number
  /** Name of the machine that has it. */
  machine: string
  hostname: string
  digest: string
}

const ENTRY = /^(\d{1,15}) (.*)$/s
/** Unknown members are those of a newer version. */
const schema = z.object({ machine: z.string(), hostname: z.string(), digest: z.string() })

/** The JSON of an entry. */
export function describeSnapshot({ machine, hostname, digest }: Omit<SnapshotEntry, 'expires'>): string {
  return JSON.stringify({ machine, hostname, digest })
}

/** @returns undefined for an empty text, which says that there is no snapshot, and for what is no entry */
export function parseSnapshotEntry(text: string): SnapshotEntry | undefined {
  const [, expires, json] = ENTRY.exec(text) ?? []
  if (expires === undefined || json === undefined) return undefined
  try {
    return { ...schema.parse(JSON.parse(json)), expires: Number(expires) }
  } catch {
    return undefined
  }
}
