// The interface of each provider's file: it finds a zone, reads and changes records of one name and type, and handles
// DNSSEC.

import type { DnssecState } from './provider-error.ts'

/** The types of records that are read and changed. */
export type RecordType = 'A' | 'AAAA' | 'TXT' | 'CNAME' | 'CAA'

export type ApiMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface ApiAnswer {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: string
}

/**
 * Makes one request, bounded in time and size, and follows no redirect.
 * @throws Error whose message is for people, for everything but a whole answer
 */
export type ApiHttp = (
  url: string,
  request: {
    method: ApiMethod
    headers: Readonly<Record<string, string>>
    body?: string
    /** @default the client's */
    deadlineMs?: number
    signal: AbortSignal
  },
) => Promise<ApiAnswer>

/** How to reach the API. */
export interface ApiConnection {
  http: ApiHttp
  /** Without a slash at its end. @default the provider's public URL */
  baseUrl?: string
  /** Milliseconds for each request. @default that of `http` */
  deadlineMs?: number
  /**
   * Milliseconds between the starts of two requests, and before each poll of an unfinished action.
   * @default the provider's
   */
  pauseMs?: number
}

/** A zone, as the provider knows it. */
export interface Zone {
  /** The provider's ID of the zone in requests. */
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
  /** TTL in seconds; only when all records share one value. */
  ttl?: number
}

export interface ZoneRecord {
  /** Of TXT the text, an address as `normalizeIp` gives it, of CNAME the host without a trailing dot, of CAA `0 issue "…"`. */
  value: string
  /** The value in the provider's words. */
  raw: string
  /** The provider's ID of the record in requests, if it has one. */
  id?: string
}

/** Values to remove from a record set and to add to it. No value is in both lists. */
interface RecordChange {
  add: readonly string[]
  remove: readonly string[]
}

/** Each function makes one attempt and throws ApiError. */
export interface ZoneApi {
  /** As in `ACME_DNS_PROVIDER`. */
  readonly name: string
  /**
   * @param candidates names that the zone may have, longest first
   * @returns undefined when the account has none of them
   */
  findZone(candidates: readonly string[], signal: AbortSignal): Promise<Zone | undefined>
  readRecords(zone: Zone, name: string, type: RecordType, signal: AbortSignal): Promise<RecordSet>
  /**
   * Changes only values that {@link readRecords} has just read. If the API supports it, the change fails when
   * somebody else changed the record set concurrently; otherwise values are added before others are removed.
   */
  changeRecords(zone: Zone, current: RecordSet, change: RecordChange, signal: AbortSignal): Promise<void>
  /** Enables DNSSEC where it is off. Missing when the provider has no API for it. */
  dnssec?(zone: Zone, signal: AbortSignal): Promise<DnssecState>
}
