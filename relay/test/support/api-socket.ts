// Connections to the relay's API on which requests are written by hand.

import { once } from 'node:events'
import type { TLSSocket } from 'node:tls'
import { HEADER, PATH, RAW_UPGRADE } from '@svc/protocol'
import { ROOT_HOST, type TestClient } from './relay.ts'

/** Reads exactly `length` bytes; fewer when the stream ends before. */
export type ReadBytes = (length: number) => Promise<Buffer>

export const UPGRADE_HEADERS: readonly string[] = ['Connection: Upgrade', `Upgrade: ${RAW_UPGRADE}`]

/** A connection to the API on which requests are written by hand. */
export async function apiSocket(relay: TestClient): Promise<TLSSocket> {
  const socket = relay.tls(new URL(relay.origin).hostname, {
    ALPNProtocols: ['http/1.1'],
    allowHalfOpen: true,
  } as object)
  await once(socket, 'secureConnect')
  return socket
}

export function connectRequest(
  capability: string,
  headers: readonly string[],
  version = '1.1',
  host: string = ROOT_HOST,
): string {
  const lines = [`GET ${PATH.connect} HTTP/${version}`, `Host: ${host}`, ...headers]
  return `${[...lines, `${HEADER.reverseCapability}: ${capability}`].join('\r\n')}\r\n\r\n`
}

/** Takes the 101 off the socket. */
export async function readHead(read: ReadBytes): Promise<string> {
  let head = ''
  while (!head.endsWith('\r\n\r\n')) {
    const byte = await read(1)
    if (byte.length === 0) break
    head += byte.toString('latin1')
  }
  return head
}

export function socketReader(socket: NodeJS.ReadableStream): ReadBytes {
  const chunks: Buffer[] = []
  let isOver = false
  let wake = () => {}
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    wake()
  })
  const over = () => {
    isOver = true
    wake()
  }
  socket.on('end', over)
  socket.on('close', over)
  return async (length) => {
    for (;;) {
      const received = Buffer.concat(chunks.splice(0))
      if (received.length >= length || isOver) {
        chunks.unshift(received.subarray(length))
        return received.subarray(0, length)
      }
      chunks.unshift(received)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
}
