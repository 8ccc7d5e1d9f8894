// The interface of a zone: it answers the DNS server's questions and accepts changes.

import type { DnsName } from './name.ts'

/** A question of class IN. */
export interface Question {
  name: DnsName
  type: number
}

export interface ResourceRecord {
  name: DnsName
  type: number
  /** In seconds. */
  ttl: number
  /** RDATA in wire form, without compression. */
  data: Buffer
}

export interface ZoneAnswer {
  /** NOERROR 0, FORMERR 1, SERVFAIL 2, NXDOMAIN 3 or REFUSED 5. */
  rcode: number
  answers: readonly ResourceRecord[]
  authority: readonly ResourceRecord[]
  /**
   * Set when the zone currently makes no more signatures for clients with a possibly spoofed address. The answer is then
   * empty, with TC, so that a real client retries over TCP.
   */
  isTruncated?: true
}

export interface AnswerOptions {
  /** Whether the query has the flag CO of RFC 9824: the client supports compact answers, so it may get NXDOMAIN. */
  compactAnswersOk?: boolean
  /** Whether the client has proven its address, by TCP or a valid cookie. */
  isAddressProven?: boolean
  /** A number of the client's network below `NETWORK_SLOTS`, 0 by default: each network has a share of the signatures. */
  network?: number
}

export interface AuthoritativeZone {
  readonly apex: DnsName
  /** Grows with each change. Answers of an older version may be outdated. */
  readonly version: number
  /**
   * Returns the name that an answer comes from: the queried one if it exists, or the wildcard that answers for it. All
   * missing names below an existing one also have one source.
   * @returns a key, the same for all questions for the name while `version` is the same. Never throws
   */
  sourceOf(name: DnsName): string
  /**
   * Never throws. Answers may be cached for an hour while `version` is the same, except those with `isTruncated` or SERVFAIL.
   * @param dnssecOk whether the query has the flag DO, so that signatures and proofs are included
   */
  answer(question: Question, dnssecOk: boolean, options?: AnswerOptions): ZoneAnswer
}

/** One change of a zone, which can be posted to a thread. It replaces or removes all records of that name and type. */
export type ZoneChange =
  | { kind: 'set'; name: string; type: number; ttl: number; data: readonly Buffer[] }
  | { kind: 'remove'; name: string; type: number }
