// One reverse session from the SDK's side, over each carrier: what the relay does with it must not depend on which.

import { once } from 'node:events'
import {
  apiSocket,
  connectRequest,
  type ReadBytes,
  readHead,
  socketReader,
  UPGRADE_HEADERS,
} from './api-socket.ts'
import { carrierOn, LINKS, type Link } from './carrier.ts'
import type { TestClient } from './relay.ts'

export interface TestSession {
  read: ReadBytes
  write(bytes: Uint8Array): Promise<void>
  /** Ends its own half. */
  end(): Promise<void>
  /** Breaks the session off without an orderly end. */
  abort(): void
  closed: Promise<unknown>
}

type Open = (relay: TestClient, capability: string) => Promise<TestSession>

/** The session by carrier, for `describe.each`. */
export const CARRIERS: [string, Open][] = [
  ...LINKS.map(([name, connect]): [string, Open] => [
    name,
    async (relay, capability) => streamOn(await connect(relay, capability), capability),
  ]),
  ['a native client', (relay, capability) => nativeSession(relay, capability, UPGRADE_HEADERS)],
  ['a native client without upgrade headers', (relay, capability) => nativeSession(relay, capability, [])],
]

export async function nativeSession(
  relay: TestClient,
  capability: string,
  headers: readonly string[],
): Promise<TestSession> {
  const socket = await apiSocket(relay)
  const read = socketReader(socket)
  // Its own half stays open, as that of a client with more to send.
  const closed = Promise.race([once(socket, 'end'), once(socket, 'close')])
  socket.write(connectRequest(capability, headers, '1.1', new URL(relay.origin).hostname))
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

async function streamOn(link: Link, capability: string): Promise<TestSession> {
  const { stream, read } = await carrierOn(link).open(capability)
  const [answer] = await read(1)
  if (answer !== 0) {
    link.terminate()
    throw new Error('rejected')
  }
  return {
    read,
    write: (bytes) => stream.write(bytes),
    end: () => stream.end(),
    abort: () => {
      stream.abort()
      link.terminate()
    },
    closed: stream.closed,
  }
}
