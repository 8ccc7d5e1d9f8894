// A local UDP socket for each flow, so that the service sees each visitor as a separate client.

import { createSocket, type Socket, type SocketType } from 'node:dgram'
import { FLOW_IDLE_MS } from '@svc/protocol'
import type { RemoteAddress } from '@svc/sdk-core'

/** The most concurrent visitors of the local UDP service, each with a socket: as many as a relay keeps flows of a lease. */
const LOCAL_FLOWS_MAX = 16_384
/** The most datagrams of a new visitor that wait until its socket is connected. */
const LOCAL_WAITING_MAX = 16
/** Milliseconds between two searches for idle visitors. */
const LOCAL_SWEEP_MS = 30_000
/** The kernel's receive buffer for a local service's answers, in bytes, if the system allows it. */
const LOCAL_RECEIVE_BUFFER_BYTES = 256 * 1024

export interface LocalEvents {
  /** Called for each new flow, before its first datagram, with the port from which its datagrams reach the service. */
  opened?(flow: UdpFlow): void
  /** Called with each datagram of the service. */
  answered(flowId: number, payload: Uint8Array): void
  /** Called when a datagram was dropped. */
  dropped(reason: 'local_queue_full' | 'local_refused'): void
  /** Called when the service does not answer, or no socket can be opened. */
  failed(error: Error): void
}

/** UdpFlow is a new visitor of a UDP service: an address and a port, until nothing passes for five minutes. */
export interface UdpFlow {
  /**
   * Where the visitor's datagrams come from. It is the relay's word, and the relay does not know whether the sender forged it.
   * Undefined when the relay does not say so in time.
   */
  remote: RemoteAddress | undefined
  /** The port of this machine from which the service gets them. */
  localPort: number
}

/** An IP address and a port. */
export interface LocalAddress {
  address: string
  family: number
  port: number
}

interface Flow {
  socket: Socket
  seenAt: number
  /** The waiting datagrams; undefined once the socket is connected. */
  waiting: Uint8Array[] | undefined
}

export class LocalFlows {
  readonly #target: LocalAddress
  readonly #events: LocalEvents
  readonly #max: number
  /** The flows by number, the longest silent first. */
  readonly #flows = new Map<number, Flow>()
  readonly #sweeping: NodeJS.Timeout

  constructor(target: LocalAddress, events: LocalEvents, max: number = LOCAL_FLOWS_MAX) {
    this.#target = target
    this.#events = events
    this.#max = max
    this.#sweeping = setInterval(() => this.#sweep(), LOCAL_SWEEP_MS).unref()
  }

  get size(): number {
    return this.#flows.size
  }

  has(flowId: number): boolean {
    return this.#flows.has(flowId)
  }

  /** Sends a visitor's datagram to the service. */
  deliver(flowId: number, payload: Uint8Array): void {
    const flow = this.#flows.get(flowId) ?? this.open(flowId)
    this.#touch(flowId, flow)
    if (flow.waiting === undefined) flow.socket.send(payload)
    else if (flow.waiting.length < LOCAL_WAITING_MAX) flow.waiting.push(payload)
    else this.#events.dropped('local_queue_full')
  }

  close(): void {
    clearInterval(this.#sweeping)
    this.clear()
  }

  /** Ends all flows. */
  clear(): void {
    for (const [flowId, flow] of this.#flows) this.#end(flowId, flow)
  }

  /** Opens a flow that is not open. @param remote the visitor's address, if it is known */
  open(flowId: number, remote?: RemoteAddress): Flow {
    const [oldest] = this.#flows
    if (this.#flows.size >= this.#max && oldest) this.#end(...oldest)
    const { address, family, port } = this.#target
    const type: SocketType = family === 6 ? 'udp6' : 'udp4'
    const socket = createSocket({ type, recvBufferSize: LOCAL_RECEIVE_BUFFER_BYTES })
    const flow: Flow = { socket, seenAt: 0, waiting: [] }
    socket.on('message', (payload) => {
      this.#touch(flowId, flow)
      this.#events.answered(flowId, payload)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#events.dropped('local_refused')
      this.#events.failed(error)
      // Ends only a socket that could not connect: a service that was down may be back for the next datagram.
      if (flow.waiting !== undefined) this.#end(flowId, flow)
    })
    // A connected socket accepts only the service's datagrams, and gets an error when nothing listens there.
    socket.connect(port, address, () => {
      const waiting = flow.waiting ?? []
      flow.waiting = undefined
      this.#events.opened?.({ remote, localPort: socket.address().port })
      for (const payload of waiting) socket.send(payload)
    })
    this.#flows.set(flowId, flow)
    return flow
  }

  #touch(flowId: number, flow: Flow): void {
    if (this.#flows.get(flowId) !== flow) return
    flow.seenAt = performance.now()
    this.#flows.delete(flowId)
    this.#flows.set(flowId, flow)
  }

  #sweep(): void {
    const idleSince = performance.now() - FLOW_IDLE_MS
    for (const [flowId, flow] of this.#flows) {
      if (flow.seenAt > idleSince) return
      this.#end(flowId, flow)
    }
  }

  #end(flowId: number, { socket }: Flow): void {
    if (this.#flows.delete(flowId)) socket.close()
  }
}
