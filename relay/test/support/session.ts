// One reverse session from the SDK's side, over each carrier: what the relay does with it must not depend on which.

import { once } from 'node:events'
import type { TLSSocket } from 'node:tls'
import { HEADER, PATH, RAW_UPGRADE } from '@svc/protocol'
import { openCarrier } from './carrier.ts'
import { ROOT_HOST, type TestClient } from './relay.ts'

export interface TestSession {
  /** Reads exactly `length` bytes; fewer when the session ends before. */
  read(length: number): Promise<Buffer>
  write(bytes: Uint8Array): Promise<void>
  /** Ends its own half. */
  end(): Promise<void>
  /** Breaks the session off without an orderly end. */
  abort(): void
  closed: Promise<unknown>
}

export const UPGRADE_HEADERS: readonly string[] = ['Connection: Upgrade', `Upgrade: ${RAW_UPGRADE}`]

/** The session by carrier, for `describe.each`. */
export const CARRIERS: [string, (relay: TestClient, capability: string) => Promise<TestSession>][] = [
  ['a browser', browserSession],
  ['a native client', (relay, capability) => nativeSession(relay, capability, UPGRADE_HEADERS)],
  ['a native client without upgrade headers', (relay, capability) => nativeSession(relay, capability, [])],
]

/** A connection to the API on which requests are written by hand. */
export async function apiSocket(relay: TestClient): Promise<TLSSocket> {
  const socket = relay.tls(ROOT_HOST, { ALPNProtocols: ['http/1.1'], allowHalfOpen: true } as object)
  await once(socket, 'secureConnect')
  return socket
}

export function connectRequest(capability: string, headers: readonly string[], version = '1.1'): string {
  const lines = [`GET ${PATH.connect} HTTP/${version}`, `Host: ${ROOT_HOST}`, ...headers]
  return `${[...lines, `${HEADER.reverseCapability}: ${capability}`].join('\r\n')}\r\n\r\n`
}

/** Takes the 101 off the socket. */
export async function readHead(read: TestSession['read']): Promise<string> {
  let head = ''
  while (!head.endsWith('\r\n\r\n')) {
    const byte = await read(1)
    if (byte.length === 0) break
    head += byte.toString('latin1')
  }
  return head
}

export async function nativeSession(
  relay: TestClient,
  capability: string,
  headers: readonly string[],
): Promise<TestSession> {
  const socket = await apiSocket(relay)
  const read = socketReader(socket)
  // Its own half stays open, as that of a client with more to send.
  const closed = Promise.race([once(socket, 'end'), once(socket, 'close')])
  socket.write(connectRequest(capability, headers))
  const head = await readHead(read)
  if (!head.startsWith('HTTP/1.1 101 ')) throw new Error(head)
  return {
    read,
    write: async (bytes) => void socket.write(bytes),
    end: async () => void socket.end(),
    abort: () => socket.destroy(),
    closed,
  }
}

export function socketReader(socket: NodeJS.ReadableStream): TestSession['read'] {
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

async function browserSession(relay: TestClient, capability: string): Promise<TestSession> {
  const { socket, open } = await openCarrier(relay, capability)
  const { stream, read } = await open(capability)
  const [answer] = await read(1)
  if (answer !== 0) {
    socket.terminate()
    throw new Error('rejected')
  }
  return {
    read,
    write: (bytes) => stream.write(bytes),
    end: () => stream.end(),
    abort: () => {
      stream.abort()
      socket.terminate()
    },
    closed: stream.closed,
  }
}
