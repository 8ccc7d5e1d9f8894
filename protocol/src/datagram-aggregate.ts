// Aggregates: several small datagrams in one DATAGRAM frame, because a QUIC packet costs the same at any size.

import { DATAGRAM_AGGREGATE_MAX_BYTES, DATAGRAM_ALWAYS_BYTES } from './limits.ts'

/** The first byte of an aggregate: a flow id that does not exist. */
const AGGREGATE = 0
/** The length of each datagram, unsigned, big-endian. */
const LENGTH_BYTES = 2

/**
 * Encodes an aggregate. *Extension*: send it only to a peer that announced `aggregates` on the first stream.
 * @param datagrams each with its flow id and shorter than 64 KiB; unchecked
 */
export function encodeAggregate(datagrams: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(sizeOf(datagrams))
  bytes[0] = AGGREGATE
  let offset = 1
  for (const datagram of datagrams) {
    bytes[offset] = datagram.length >> 8
    bytes[offset + 1] = datagram.length
    bytes.set(datagram, offset + LENGTH_BYTES)
    offset += LENGTH_BYTES + datagram.length
  }
  return bytes
}

/**
 * Returns the datagrams of a possible aggregate. They share its memory.
 * @returns the datagram itself when it is not a valid aggregate; with wrong lengths, its flow does not exist
 */
export function datagramsOf(bytes: Uint8Array): Uint8Array[] {
  if (bytes[0] !== AGGREGATE) return [bytes]
  const datagrams: Uint8Array[] = []
  for (let offset = 1; offset < bytes.length; ) {
    const start = offset + LENGTH_BYTES
    if (start > bytes.length) return [bytes]
    offset = start + (bytes[offset]! << 8) + bytes[offset + 1]!
    if (offset > bytes.length) return [bytes]
    datagrams.push(bytes.subarray(start, offset))
  }
  return datagrams.length === 0 ? [bytes] : datagrams
}

/** AggregatorParts are the dependencies of a {@link DatagramAggregator}. */
export interface AggregatorParts {
  /** Sends a datagram or an aggregate. */
  pass: (bytes: Uint8Array) => void
  /** Returns the largest DATAGRAM that the path currently carries, in bytes. */
  maxBytes: () => number
  /** Calls `flush` at the end of the current event-loop turn. */
  atEndOfTurn: (flush: () => void) => void
}

/** A DatagramAggregator collects the datagrams of one event-loop turn, so none waits for later ones. */
export class DatagramAggregator {
  readonly #parts: AggregatorParts
  #datagrams: Uint8Array[] = []
  #bytes = 0
  #isAwaited = false

  constructor(parts: AggregatorParts) {
    this.#parts = parts
  }

  push(datagram: Uint8Array): void {
    if (this.#bytes + LENGTH_BYTES + datagram.length > this.#maxBytes) this.#flush()
    this.#bytes += LENGTH_BYTES + datagram.length + (this.#datagrams.length === 0 ? 1 : 0)
    this.#datagrams.push(datagram)
    if (this.#isAwaited) return
    this.#isAwaited = true
    this.#parts.atEndOfTurn(() => {
      this.#isAwaited = false
      this.#flush()
    })
  }

  /**
   * The MTU of an Internet path may shrink at any time, and then the small datagrams in a large packet would also be lost, until a
   * heartbeat shows it. A path that carries {@link DATAGRAM_AGGREGATE_MAX_BYTES} is a loopback or a private network.
   */
  get #maxBytes(): number {
    const takesLarge = this.#parts.maxBytes() >= DATAGRAM_AGGREGATE_MAX_BYTES
    return takesLarge ? DATAGRAM_AGGREGATE_MAX_BYTES : DATAGRAM_ALWAYS_BYTES
  }

  #flush(): void {
    const datagrams = this.#datagrams
    this.#datagrams = []
    this.#bytes = 0
    if (datagrams.length === 1) this.#parts.pass(datagrams[0]!)
    else if (datagrams.length > 1) this.#parts.pass(encodeAggregate(datagrams))
  }
}

function sizeOf(datagrams: readonly Uint8Array[]): number {
  return datagrams.reduce((sum, { length }) => sum + LENGTH_BYTES + length, 1)
}
