// The file of each provider finds a zone, reads and changes records of one name and type, and looks at DNSSEC: its interface.

import type { DnssecState } from '../provider.ts'

export type RecordType = 'A' | 'AAAA' | 'TXT'

/** Where the API is, when it is not at its public address: tests ask servers of their own. */
export interface ApiConnection {
  /** Without a slash at its end. @default the provider's public URL */
  baseUrl?: string
  /** Milliseconds for each request. @default OUTBOUND_DEADLINE_MS */
  deadlineMs?: number
  /** Milliseconds between the beginnings of two requests, and before each look at an unfinished action. @default the provider's */
  pauseMs?: number
}

/** A zone, as the provider knows it. */
export interface Zone {
  /** What requests name the zone by. */
  id: string
  /** Absolute, in lower case, without a trailing dot. */
  name: string
  /** Host names in lower case, without a trailing dot. */
  nameServers: readonly string[]
}

/** The records of one name and type. */
export interface RecordSet {
  name: string
  type: RecordType
  records: readonly ZoneRecord[]
  /** Seconds, where one value holds for all records. */
  ttl?: number
}

export interface ZoneRecord {
  /** A text as {@link unquoteTxt} gives it, or an address as `normalizeIp` does. */
  value: string
  /** The value in the provider's words. */
  raw: string
  /** What requests name the record by, where they do. */
  id?: string
}

/** Values that a record set loses and gets. Neither is in the other. */
interface RecordChange {
  add: readonly string[]
  remove: readonly string[]
}

/** Each function makes one attempt and throws ApiError. */
export interface ZoneApi {
  /** As in `ACME_DNS_PROVIDER`. */
  readonly name: string
  /** @param candidates names that the zone may have, the longest first @returns undefined when the account has none of them */
  findZone(candidates: readonly string[], signal: AbortSignal): Promise<Zone | undefined>
  readRecords(zone: Zone, name: string, type: RecordType, signal: AbortSignal): Promise<RecordSet>
  /**
   * Changes values that {@link readRecords} has just read, and no other ones. Where the API can, the change fails when
   * somebody else changed the record set concurrently; otherwise values are added before others are removed.
   */
  changeRecords(zone: Zone, current: RecordSet, change: RecordChange, signal: AbortSignal): Promise<void>
  /** Enables DNSSEC where it is off. Missing where the provider cannot. */
  dnssec?(zone: Zone, signal: AbortSignal): Promise<DnssecState>
}
