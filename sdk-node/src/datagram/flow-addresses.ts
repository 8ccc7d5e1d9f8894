// Joins datagrams with the addresses of their visitors, which come on another way: a new flow's datagrams wait a moment for
// the line about it.

import { FLOW_LINE_WAIT_MS } from '@svc/protocol'
import type { RemoteAddress } from '@svc/sdk-core'

/** The addresses that are remembered for flows that are not open: as many as a relay keeps flows of a lease. */
const ADDRESSES_MAX = 16_384
/** The datagrams that wait, of all flows together: as many as a relay passes on at once. */
const WAITING_MAX = 4096
/** Their payloads, in bytes. */
const WAITING_MAX_BYTES = 4 * 1024 * 1024
/** The share of one flow in both. */
const FLOW_WAITING_MAX = 16
const FLOW_WAITING_MAX_BYTES = 32 * 1024

export interface FlowAddressEvents {
  /** Called once for each flow, before its first datagram. @param remote undefined when no line came in time */
  open(flowId: number, remote: RemoteAddress | undefined): void
  deliver(flowId: number, payload: Uint8Array): void
  /** Called when a datagram was dropped because too many of its flow wait. */
  dropped(): void
}

interface Waiting {
  payloads: Uint8Array[]
  bytes: number
  deadline: NodeJS.Timeout
}

export class FlowAddresses {
  readonly #events: FlowAddressEvents
  /** The oldest first. */
  readonly #addresses = new Map<number, RemoteAddress>()
  readonly #waiting = new Map<number, Waiting>()
  #waitingCount = 0
  #waitingBytes = 0

  constructor(events: FlowAddressEvents) {
    this.#events = events
  }

  /** Takes the line about a flow. Only the first one of a flow counts. */
  told(flowId: number, remote: RemoteAddress): void {
    if (this.#addresses.has(flowId)) return
    const [oldest] = this.#addresses.keys()
    if (this.#addresses.size >= ADDRESSES_MAX && oldest !== undefined) this.#addresses.delete(oldest)
    this.#addresses.set(flowId, remote)
    if (this.#waiting.has(flowId)) this.#open(flowId)
  }

  /** Takes a datagram of a flow that is not open. */
  received(flowId: number, payload: Uint8Array): void {
    const waiting = this.#waiting.get(flowId)
    const hasRoom = this.#hasRoomFor(payload, waiting)
    if (waiting !== undefined) {
      if (hasRoom) this.#keep(waiting, payload)
      else this.#events.dropped()
    } else if (hasRoom && !this.#addresses.has(flowId)) {
      const deadline = setTimeout(() => this.#open(flowId), FLOW_LINE_WAIT_MS)
      const begun = { payloads: [], bytes: 0, deadline }
      this.#waiting.set(flowId, begun)
      this.#keep(begun, payload)
    } else {
      this.#events.open(flowId, this.#addresses.get(flowId))
      this.#events.deliver(flowId, payload)
    }
  }

  /** Forgets all flows, and drops what waits. */
  clear(): void {
    for (const { deadline } of this.#waiting.values()) clearTimeout(deadline)
    this.#waiting.clear()
    this.#addresses.clear()
    this.#waitingCount = 0
    this.#waitingBytes = 0
  }

  #hasRoomFor({ length }: Uint8Array, waiting: Waiting | undefined): boolean {
    const { payloads = [], bytes = 0 } = waiting ?? {}
    return (
      payloads.length < FLOW_WAITING_MAX &&
      bytes + length <= FLOW_WAITING_MAX_BYTES &&
      this.#waitingCount < WAITING_MAX &&
      this.#waitingBytes + length <= WAITING_MAX_BYTES
    )
  }

  #keep(waiting: Waiting, payload: Uint8Array): void {
    waiting.payloads.push(payload)
    waiting.bytes += payload.length
    this.#waitingCount += 1
    this.#waitingBytes += payload.length
  }

  #open(flowId: number): void {
    const { payloads, bytes, deadline } = this.#waiting.get(flowId)!
    clearTimeout(deadline)
    this.#waiting.delete(flowId)
    this.#waitingCount -= payloads.length
    this.#waitingBytes -= bytes
    this.#events.open(flowId, this.#addresses.get(flowId))
    for (const payload of payloads) this.#events.deliver(flowId, payload)
  }
}
