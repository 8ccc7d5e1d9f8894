// A zone answers the questions of the name server, and takes changes from the rest of the relay: its interface.

import type { DnsName } from './name.ts'

/** Of the class IN. */
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
   * Set when the zone makes no more signatures right now for clients that may have forged their address. The answer is then
   * empty, and has TC set, so that a real client asks again by TCP.
   */
  isTruncated?: true
}

export interface AnswerOptions {
  /** The query has the flag CO of RFC 9824: the client knows compact answers, so that NXDOMAIN may be said to it. */
  compactAnswersOk?: boolean
  /** The client has shown that its address is its own: by TCP, or a good cookie. */
  isAddressProven?: boolean
  /** A number of the client's network below `NETWORK_SLOTS`, 0 by default: each network has a share of the signatures. */
  network?: number
}

export interface AuthoritativeZone {
  readonly apex: DnsName
  /** Grows with each change. Answers of an older version may be outdated. */
  readonly version: number
  /**
   * The name that an answer comes from: the one that was asked for where it exists, or the wildcard that answers for it. All
   * names that do not exist below one that does have one source, too.
   * @returns a key, the same for all questions for the name while `version` is the same. Never throws
   */
  sourceOf(name: DnsName): string
  /**
   * Never throws. Answers may be kept for an hour while `version` is the same; those with `isTruncated` or SERVFAIL may not.
   * @param dnssecOk whether the query has the flag DO, so that signatures and proofs come along
   */
  answer(question: Question, dnssecOk: boolean, options?: AnswerOptions): ZoneAnswer
}

/** One change of a zone, which can be sent to a thread. It replaces, or removes, all records of that name and type. */
export type ZoneChange =
  | { kind: 'set'; name: string; type: number; ttl: number; data: readonly Buffer[] }
  | { kind: 'remove'; name: string; type: number }
