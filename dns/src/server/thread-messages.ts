// The messages between the DNS server's thread and its parent.

import type { ZoneChange } from '../zone/answer.ts'
import type { ZoneParameters } from '../zone/zone.ts'
import type { DnsCounts } from './counts.ts'
import type { BoundAddress, DnsAddress } from './listeners.ts'
import type { ResponseRates } from './response-rate.ts'

/** The initial data of the thread. */
export interface ThreadData {
  zone: ZoneParameters
  addresses: readonly DnsAddress[]
  rates: Partial<ResponseRates> | undefined
  rebindMs: number | undefined
}

/**
 * A change, with the bytes of each record as latin1, because posting a small Buffer would copy its whole pool.
 * Without data, it is a removal.
 */
export interface SentChange {
  name: string
  type: number
  ttl: number
  data: string[] | undefined
}

export type ToThread =
  /** The thread replies `applied` with this number when it answers with the changes, or has refused one. */
  | { kind: 'apply'; id: number; changes: SentChange[] }
  /** The zone is filled: the thread begins to listen. */
  | { kind: 'listen' }
  | { kind: 'close' }

export type FromThread =
  /** The problem is that of the first refused change of the message. The others were applied. */
  | { kind: 'applied'; id: number; problem: string | undefined }
  /** Every address was tried once. */
  | { kind: 'listening' }
  | { kind: 'bound'; address: BoundAddress }
  | { kind: 'unbound'; address: BoundAddress; code: string; message: string }
  /** The zone threw for a question. */
  | { kind: 'failed'; message: string }
  | { kind: 'counts'; counts: DnsCounts }

export function sentChange(change: ZoneChange): SentChange {
  const { name, type } = change
  if (change.kind === 'remove') return { name, type, ttl: 0, data: undefined }
  return { name, type, ttl: change.ttl, data: change.data.map((bytes) => bytes.toString('latin1')) }
}

export function receivedChange({ name, type, ttl, data }: SentChange): ZoneChange {
  if (data === undefined) return { kind: 'remove', name, type }
  return { kind: 'set', name, type, ttl, data: data.map((bytes) => Buffer.from(bytes, 'latin1')) }
}
