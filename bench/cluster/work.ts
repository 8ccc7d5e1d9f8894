// Messages between the benchmark and its site and visitors, which are processes of their own.

/** The site's answer once it is online: hostnames of its leases, each of which does one kind of work. */
export interface Hostnames {
  /** Every visitor gets one byte. */
  ask: string
  /** A visitor gets bytes, and an end. */
  download: string
  /** A visitor gets one byte, sends all of its own, and gets an end. */
  upload: string
}

export type Task =
  /** Visitors who come one after the other, at each port in turn. Answer: the median for each port, in milliseconds. */
  | { kind: 'ask'; ports: readonly number[]; hostname: string; visitors: number }
  /** Visitors who come together, each with this many bytes. Answer: seconds from the first byte to the last end. */
  | { kind: 'download' | 'upload'; port: number; hostname: string; streams: number }

/** Bytes of a visitor of a download or an upload. */
export const TRANSFER_BYTES: number = 64 * 1024 * 1024
