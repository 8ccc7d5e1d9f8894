// Describes where a visitor of the benchmark goes: the page behind the relay, or the peer. Both are on this machine.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { AgentOptions } from 'node:https'
import path from 'node:path'
import type { Started } from './node-process.ts'

export interface Target {
  /** The hostname of the URL; names under localhost are this machine. */
  host: string
  port: number
  ca: string
}

export interface Peer extends Target {
  stop(): void
}

export async function startPeer(): Promise<Peer> {
  const child = fork(path.join(import.meta.dirname, 'node-process.ts'))
  const [{ port, ca }] = (await once(child, 'message')) as [Started]
  return { host: 'localhost', port, ca, stop: () => child.disconnect() }
}

export function targetOf(url: string, ca: string): Target {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port), ca }
}

/** @returns the options with which any client connects to it */
export function connectOptions({ host, port, ca }: Target): AgentOptions & { headers: { Host: string } } {
  return { host: '127.0.0.1', port, servername: host, ca, headers: { Host: `${host}:${port}` } }
}

export function urlOf({ host, port }: Target, path = ''): string {
  return `https://${host}:${port}${path}`
}
