// Reads the size of the kernel's send queues. A socket accepts new bytes only when a third of its buffer of several
// megabytes is free, so that its writes do not distinguish a slow reader from one that reads nothing.

import { createReadStream } from 'node:fs'
import type { Socket } from 'node:net'
import { endianness } from 'node:os'
import { normalizeIp } from '../client-address/ip-address.ts'

/** Bytes of the kernel's table of connections that the relay parses in one turn of the event loop, in about 0.5 ms. */
export const SEND_QUEUES_READ_BYTES: number = 64 * 1024

type Ends = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localPort'>

/** Tables of Linux (proc_net_tcp(5)). Other systems have none. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']
/** Local address and port, remote address and port, state, and bytes that the peer has not acknowledged. */
const ENTRY = /^ *\d+: [\dA-F]+:([\dA-F]{4}) ([\dA-F]+):([\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/gm
const HEX_BYTE = /../g
const WORD_BYTES = 4

/** @returns bytes sent and not acknowledged, by connection. Connections that the system does not list are missing. */
export async function sendQueueSize<T extends Ends>(connections: readonly T[]): Promise<Map<T, number>> {
  const found = new Map<T, number>()
  // Reading the tables is expensive: they have a line for each connection of the machine.
  if (connections.length === 0) return found
  const byPorts = Map.groupBy(
    connections,
    ({ localPort = 0, remotePort = 0 }) => `${localPort} ${remotePort}`,
  )
  for await (const lines of linesOf(TABLES))
    for (const [, local = '', address = '', remote = '', queued = ''] of lines.matchAll(ENTRY))
      for (const connection of byPorts.get(`${Number.parseInt(local, 16)} ${Number.parseInt(remote, 16)}`) ??
        [])
        if (addressOf(address) === normalizeIp(connection.remoteAddress ?? ''))
          found.set(connection, Number.parseInt(queued, 16))
  return found
}

/** Yields whole lines, a portion in each turn of the event loop: with 16,000 connections a table has 2 MB. */
async function* linesOf(paths: readonly string[]): AsyncGenerator<string> {
  for (const path of paths) {
    let rest = ''
    try {
      const options = { encoding: 'latin1', highWaterMark: SEND_QUEUES_READ_BYTES } as const
      for await (const portion of createReadStream(path, options)) {
        const text = rest + portion
        const end = text.lastIndexOf('\n') + 1
        rest = text.slice(end)
        yield text.slice(0, end)
      }
    } catch {
      // The system has no such table, and nothing of it was read.
    }
  }
}

/** Parses an address, which the kernel prints as words of 32 bits in its own byte order. */
function addressOf(hex: string): string | undefined {
  const bytes = (hex.match(HEX_BYTE) ?? []).map((byte) => Number.parseInt(byte, 16))
  const ordered =
    endianness() === 'LE' ? bytes.map((_, index) => bytes[index ^ (WORD_BYTES - 1)] ?? 0) : bytes
  if (ordered.length === WORD_BYTES) return ordered.join('.')
  const groups = ordered.flatMap((byte, index) =>
    index % 2 === 0 ? [byte * 256 + (ordered[index + 1] ?? 0)] : [],
  )
  return normalizeIp(groups.map((group) => group.toString(16)).join(':'))
}
