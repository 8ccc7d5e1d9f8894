// The datagram tunnel: its ALPN, its first stream, and the format of a DATAGRAM (RFC 9221): a flow id and a UDP payload.

import type { ErrorCode } from './errors.ts'
import { FLOW_ID_MAX } from './limits.ts'

/** The protocol name (RFC 7301) of the QUIC connection between SDK and relay. */
export const TUNNEL_ALPN = 'svc-tunnel'

/**
 * TUNNEL_CLOSE has the application error codes of a QUIC close (RFC 9000 §20.2). *Extension*: a client may ignore them.
 */
export const TUNNEL_CLOSE = {
  /** The relay shuts down, and the SDK may reconnect. */
  goingAway: 0,
  /** The lease expired, was unregistered or replaced, or is no longer allowed. */
  leaseEnded: 1,
  /** The lease has a newer tunnel. */
  replaced: 2,
  /** The first stream did not bring a lease token that the relay accepts. */
  refused: 3,
  /** The relay has no room for another connection without a lease. */
  busy: 4,
  /** The SDK sent something other than a heartbeat on the stream after the answer. */
  violation: 5,
} as const

/** TunnelHello is what the SDK sends on the first stream, as JSON of at most {@link TUNNEL_HELLO_MAX_BYTES} bytes. */
export interface TunnelHello {
  /** The lease token, of a lease with UDP. */
  access_token: string
  /** *Extension*: the SDK accepts several datagrams in one DATAGRAM frame. */
  aggregates?: boolean | undefined
}

/** TunnelAnswer is the relay's answer to it, as JSON. */
export type TunnelAnswer =
  | {
      ok: true
      /** *Extension*: the relay sends back the bytes that follow on the stream. */
      heartbeat?: boolean | undefined
      /** *Extension*: both sides may send several datagrams in one DATAGRAM frame. Only if the SDK announced it too. */
      aggregates?: boolean | undefined
    }
  | {
      ok: false
      /** The reason. The relay closes the connection after this answer. */
      error: ErrorCode
    }

/**
 * FlowLine is a line of JSON that the relay writes on the first stream before the first datagram of a flow. *Extension*
 * `visitor_address`.
 */
export interface FlowLine {
  flow: number
  /** The visitor's IP address, as the relay sees it. */
  address: string
  port: number
}

/** A Datagram is a UDP payload and its flow: one visitor's address, until it is idle. */
export interface Datagram {
  /** A number that the relay gave the flow, from 1 to {@link FLOW_ID_MAX}. On the wire it is unsigned LEB128. */
  flowId: number
  /** The UDP payload, which may be empty. */
  payload: Uint8Array
}

const CONTINUES = 0x80
const VALUE = 0x7f
const VALUE_BITS = 7

/**
 * Encodes a DATAGRAM.
 * @param flowId from 1 to {@link FLOW_ID_MAX}, which is not checked
 */
export function encodeDatagram(flowId: number, payload: Uint8Array): Uint8Array {
  const header: number[] = []
  let rest = flowId
  for (; rest > VALUE; rest = Math.floor(rest / CONTINUES)) header.push((rest % CONTINUES) | CONTINUES)
  header.push(rest)
  const datagram = new Uint8Array(header.length + payload.length)
  datagram.set(header)
  datagram.set(payload, header.length)
  return datagram
}

/**
 * Decodes a DATAGRAM. The payload shares the memory of `datagram`.
 * @returns undefined when it does not begin with a flow id in its one shortest encoding
 */
export function decodeDatagram(datagram: Uint8Array): Datagram | undefined {
  let flowId = 0
  for (let at = 0; at < datagram.length; at += 1) {
    const byte = datagram[at]!
    // Bit operations would turn the upper half into negative numbers.
    flowId += (byte & VALUE) * 2 ** (VALUE_BITS * at)
    if (flowId > FLOW_ID_MAX) return undefined
    if (byte >= CONTINUES) continue
    // Flow 0 does not exist, and a last byte of 0 is not the shortest encoding.
    return byte === 0 ? undefined : { flowId, payload: datagram.subarray(at + 1) }
  }
  return undefined
}
