// Lets the devices of a network find the relay: it answers Multicast DNS (RFC 6762) on one interface, for the relay's names alone.
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { BlockList } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { LanAddress } from './address.ts'
import { announcementOf, answerTo, isConflict, MULTICAST_PORT, probeFor } from './multicast-answer.ts'

const GROUP = '224.0.0.251'
/** Of §8.1: as many probes, with as many milliseconds after each. */
const PROBES = 3
const PROBE_MS = 250
/** Answers in a second: a network of people asks far less, and a flood gets no more. */
const ANSWERS_PER_SECOND_MAX = 50
const SECOND_MS = 1000
/** No router passes it on (§11). */
const HOPS = 255

export interface ResponderOptions extends LanAddress {
  host: string
  /** Called with the error that ends it. */
  onError(error: Error): void
  /** @default 5353 */
  port?: number
  /** Waits after each probe. */
  wait?: (ms: number) => Promise<unknown>
}

export interface Responder {
  close(): Promise<void>
}

/** @throws Error when another machine of the network has the name, or when the port cannot be shared */
export async function startResponder(options: ResponderOptions): Promise<Responder> {
  const { host, address, prefix, port = MULTICAST_PORT, wait = pause, onError } = options
  const names = { host, address }
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  socket.bind(port)
  await once(socket, 'listening')
  socket.addMembership(GROUP, address)
  socket.setMulticastInterface(address)
  socket.setMulticastTTL(HOPS)
  // Only those who are on this link (§11): nobody asks, or claims the name, from elsewhere.
  const link = new BlockList()
  link.addSubnet(address, prefix)
  const isNear = (from: RemoteInfo): boolean => link.check(from.address)
  try {
    await probe(socket, port, isNear, names, wait)
  } catch (error) {
    socket.close()
    throw error
  }
  const admit = limiter(Date.now)
  socket.on('message', (message, from) => {
    const answer = isNear(from) ? answerTo(message, from.port, names) : undefined
    if (answer === undefined || !admit()) return
    const [toPort, to] = answer.isUnicast ? [from.port, from.address] : [port, GROUP]
    // An asker that is gone is no error.
    socket.send(answer.message, toPort, to, () => {})
  })
  socket.on('error', onError)
  socket.send(announcementOf(names), port, GROUP, () => {})
  return {
    close: () =>
      new Promise((resolve) => {
        socket.send(announcementOf(names, 0), port, GROUP, () => socket.close(() => resolve()))
      }),
  }
}

async function probe(
  socket: Socket,
  port: number,
  isNear: (from: RemoteInfo) => boolean,
  names: { host: string; address: string },
  wait: (ms: number) => Promise<unknown>,
): Promise<void> {
  let other: string | undefined
  const look = (message: Buffer, from: RemoteInfo): void => {
    if (isNear(from) && isConflict(message, names)) other = from.address
  }
  socket.on('message', look)
  for (let count = 0; count < PROBES && other === undefined; count += 1) {
    socket.send(probeFor(names), port, GROUP, () => {})
    await wait(PROBE_MS)
  }
  socket.off('message', look)
  if (other !== undefined)
    throw new Error(
      `${other} has the name ${names.host} in this network: set SVC_URL to another one below local`,
    )
}

/** @returns a function that says whether one more answer may go out now */
export function limiter(now: () => number): () => boolean {
  let since = Number.NEGATIVE_INFINITY
  let count = 0
  return () => {
    const time = now()
    if (time - since >= SECOND_MS) {
      since = time
      count = 0
    }
    count += 1
    return count <= ANSWERS_PER_SECOND_MAX
  }
}
