// What a row of the matrix is: a TLS client, how to find it, and one HTTP exchange with it.

import type { ColumnName } from './column-name.ts'
import type { Credentials } from './credentials.ts'

export type Suite = 'AES-128-GCM' | 'AES-256-GCM' | 'CHACHA20-POLY1305'
export type Group = 'X25519MLKEM768' | 'X25519' | 'P-256' | 'P-384'

/** What a column asks of a client, beside a request and its response on a connection of TLS 1.3. */
export interface Wishes {
  /** The only cipher suite to offer. */
  suite?: Suite
  /** The only group to offer. */
  group?: Group
  /** Offer a share of a group that the server does not have, and P-256 or X25519 without a share. */
  retry?: true
  /** The same again on a second connection, with the ticket of the first. */
  resume?: true
  /** Change the sending key in the middle. */
  keyUpdate?: true
  /** Pad what is sent. */
  padding?: true
  /** Export 32 bytes with this label, and print them in hexadecimal. */
  exporter?: string
  /** Have a certificate of its own at hand. */
  certificate?: true
}

export interface Task extends Wishes {
  /** On 127.0.0.1; the server's name is `localhost`. */
  port: number
  /** Body of a POST; a GET without it. */
  upload?: Uint8Array
}

export interface Outcome {
  /** SHA-256 of the response's body. */
  sha256: string
  /** What the client printed. */
  log: string
}

export interface Exchange {
  outcome: Promise<Outcome>
  /** Ends the client at once, without a goodbye. */
  leave(): void
}

/** A client that is ready. */
export interface Runner {
  exchange(task: Task): Exchange
  stop?(): Promise<void>
}

/** A client that is there. */
export interface Found {
  version: string
  /** Why it cannot do these columns. */
  cannot: Partial<Record<ColumnName, string>>
  prepare(workspace: Workspace): Promise<Runner>
}

export interface Client {
  name: string
  /** How to get it, when it is not there. */
  install: string
  find(): Promise<Found | undefined>
}

export interface Workspace {
  /** For the client's files. */
  directory: string
  credentials: Credentials
}
