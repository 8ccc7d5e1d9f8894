// A name server of a test, over UDP and TCP, whose answers the test makes: honest, lame or hostile.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import {
  type Answer,
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  type Packet,
  TRUNCATED_RESPONSE,
} from 'dns-packet'
import { onTestFinished } from 'vitest'
import { freePort } from '../../../tools/network/free-port.ts'

interface FakeAnswer {
  /** @default true */
  isAuthoritative?: boolean
  /** Number of the code, such as 5 for REFUSED. @default 0 */
  code?: number
  answers?: Answer[]
  authorities?: Answer[]
  additionals?: Answer[]
  /** Other questions than the one that was asked. */
  questions?: Packet['questions']
  /** Other than that of the query. */
  id?: number
  /** How often the answer is sent. @default 1 */
  times?: number
}

/** @returns a message, bytes of any kind, or undefined for silence */
export type Answering = (
  name: string,
  type: string,
  transport: 'udp' | 'tcp',
) => FakeAnswer | Buffer | undefined

export interface FakeServer {
  host: string
  port: number
  /** `NAME TYPE`, in order. */
  asked: string[]
}

/** Bytes of an answer by UDP. */
const UDP_MAX = 1232

/** @param givenPort one that others use at another address. @default one that the system does not give to connections */
export async function startFakeServer(
  host: string,
  answering: Answering,
  givenPort?: number,
): Promise<FakeServer> {
  const port = givenPort ?? (await freePort())
  const asked: string[] = []
  const respond = (message: Buffer, transport: 'udp' | 'tcp'): Buffer[] => {
    const query = decode(message)
    const { name, type } = query.questions![0]!
    asked.push(`${name} ${type}`)
    const answer = answering(name, type, transport)
    if (answer === undefined) return []
    if (Buffer.isBuffer(answer)) return [answer]
    const {
      isAuthoritative = true,
      code = 0,
      id = query.id!,
      questions = query.questions!,
      times = 1,
      ...sections
    } = answer
    const flags = (isAuthoritative ? AUTHORITATIVE_ANSWER : 0) | code
    const bytes = encode({ type: 'response', id, flags, questions, ...sections })
    if (transport === 'tcp' || bytes.length <= UDP_MAX) return Array(times).fill(bytes)
    return [encode({ type: 'response', id, flags: flags | TRUNCATED_RESPONSE, questions })]
  }
  const tcp = createServer((socket) =>
    socket
      .on('error', () => {})
      .on('data', (chunk: Buffer) => {
        for (const bytes of respond(chunk.subarray(2), 'tcp')) {
          const length = Buffer.alloc(2)
          length.writeUInt16BE(bytes.length)
          socket.write(Buffer.concat([length, bytes]))
        }
      }),
  )
  await once(tcp.listen(port, host), 'listening')
  const udp = createSocket('udp4').on('message', (message, from) => {
    for (const bytes of respond(message, 'udp')) udp.send(bytes, from.port, from.address)
  })
  await once(udp.bind(port, host), 'listening')
  onTestFinished(() => {
    udp.close()
    tcp.close()
  })
  return { host, port, asked }
}

export function txt(name: string, data: string, ttl = 60): Answer {
  return { type: 'TXT', name, ttl, data }
}

export function ns(name: string, data: string): Answer {
  return { type: 'NS', name, ttl: 60, data }
}

export function a(name: string, data: string, ttl = 60): Answer {
  return { type: 'A', name, ttl, data }
}

export function cname(name: string, data: string): Answer {
  return { type: 'CNAME', name, ttl: 60, data }
}

export function soa(name: string, minimum: number): Answer {
  const data = {
    mname: `ns.${name}`,
    rname: `h.${name}`,
    serial: 1,
    refresh: 1,
    retry: 1,
    expire: 1,
    minimum,
  }
  return { type: 'SOA', name, ttl: 3600, data }
}
