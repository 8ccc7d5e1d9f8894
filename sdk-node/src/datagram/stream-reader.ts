// Tells apart what a relay sends on a tunnel's first stream after its answer: heartbeats that it returns, which are zero bytes,
// and lines about flows.

import { isIP } from 'node:net'
import { FLOW_ID_MAX, FLOW_LINE_MAX_BYTES } from '@svc/protocol'
import { isRecord, type RemoteAddress } from '@svc/sdk-core'

const LINE_START = '{'.charCodeAt(0)
const LINE_END = '\n'.charCodeAt(0)
const PORT_MAX = 65_535

export interface StreamEvents {
  /** Called with the number of bytes of heartbeats. */
  heard(bytes: number): void
  /** Called with the address of a flow's visitor. */
  flow(flowId: number, remote: RemoteAddress): void
}

export class StreamReader {
  readonly #events: StreamEvents
  /** The bytes of a line whose end has not come yet. */
  #line: Buffer = Buffer.alloc(0)

  constructor(events: StreamEvents) {
    this.#events = events
  }

  /** @returns false when a line is too long, after which nothing on the stream can be trusted */
  push(chunk: Uint8Array): boolean {
    let bytes = Buffer.concat([this.#line, chunk])
    this.#line = Buffer.alloc(0)
    while (bytes.length > 0) {
      const start = bytes.indexOf(LINE_START)
      const heartbeat = start < 0 ? bytes.length : start
      if (heartbeat > 0) this.#events.heard(heartbeat)
      bytes = bytes.subarray(heartbeat)
      const end = bytes.indexOf(LINE_END)
      if (end >= FLOW_LINE_MAX_BYTES || (end < 0 && bytes.length >= FLOW_LINE_MAX_BYTES)) return false
      if (end < 0) {
        this.#line = bytes
        return true
      }
      this.#read(bytes.subarray(0, end).toString())
      bytes = bytes.subarray(end + 1)
    }
    return true
  }

  /** A line that is none of a flow may be of a later protocol. */
  #read(line: string): void {
    const { flow, address, port } = parsed(line)
    if (!isWithin(flow, 1, FLOW_ID_MAX) || !isWithin(port, 0, PORT_MAX)) return
    if (typeof address === 'string' && isIP(address) !== 0)
      this.#events.flow(flow, { address, port, reportedBy: 'relay' })
  }
}

function parsed(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

function isWithin(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max
}
