// Asks one name server: by UDP, and by TCP what is too long for it.

import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import { OTHER_MESSAGES_MAX, QUESTION_TIMEOUT_MS, UDP_TRIES } from './limits.ts'
import { type DnsAnswer, decodeAnswer, encodeQuestion, type Question } from './message.ts'

/** A name server at one of its addresses. */
export interface ServerAddress {
  host: string
  port: number
}

export interface AskOptions {
  signal?: AbortSignal | undefined
  /** For each try. @default QUESTION_TIMEOUT_MS */
  timeoutMs?: number | undefined
}

interface Tries extends AskOptions {
  /** Called before each. @throws to end them */
  onTry(): void
}

/** Values of the header's first field. */
const IDS = 0x1_00_00
/** Bytes of the length before a message over TCP (RFC 1035 §4.2.2). */
const LENGTH_BYTES = 2

/** @throws Error that says in a few words why there is no answer, or the signal's reason */
export async function ask(server: ServerAddress, question: Question, options: Tries): Promise<DnsAnswer> {
  let failure: unknown
  for (let attempt = 0; attempt < UDP_TRIES; attempt++) {
    options.onTry()
    try {
      const answer = await exchange(server, question, options, byUdp)
      if (!answer.isTruncated) return answer
      options.onTry()
      return await exchange(server, question, options, byTcp)
    } catch (error) {
      failure = error
    }
  }
  options.signal?.throwIfAborted()
  throw failure
}

interface Exchange {
  server: ServerAddress
  query: Buffer
  /** Called with each message; returns whether it was the answer. */
  take(message: Buffer): boolean
  fail(error: Error): void
}

/** @returns how to end it */
type Transport = (exchange: Exchange) => () => void

/** Messages that do not answer the question count as not received: anybody may send them. */
async function exchange(
  server: ServerAddress,
  question: Question,
  { signal, timeoutMs = QUESTION_TIMEOUT_MS }: AskOptions,
  transport: Transport,
): Promise<DnsAnswer> {
  const id = randomInt(IDS)
  const { promise, resolve, reject } = Promise.withResolvers<DnsAnswer>()
  const aborted = (): void => reject(signal?.reason)
  const timer = setTimeout(() => reject(new Error('does not answer')), timeoutMs)
  signal?.addEventListener('abort', aborted, { once: true })
  const end = transport({
    server,
    query: encodeQuestion(id, question),
    take(message) {
      const answer = decodeAnswer(message, id, question)
      if (answer !== undefined) resolve(answer)
      return answer !== undefined
    },
    fail: (error: NodeJS.ErrnoException) =>
      reject(new Error(`cannot be reached (${error.code ?? error.message})`)),
  })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', aborted)
    end()
  }
}

function byUdp({ server, query, take, fail }: Exchange): () => void {
  const socket = createSocket(isIPv6(server.host) ? 'udp6' : 'udp4')
  let isOpen = true
  let others = 0
  socket.on('error', fail).on('message', (message) => {
    if (isOpen && !take(message)) others += 1
    if (others > OTHER_MESSAGES_MAX) fail(new Error('sends other messages'))
  })
  // A connected socket gets the messages of this server alone.
  socket.connect(server.port, server.host, () => {
    if (isOpen) socket.send(query)
  })
  return () => {
    isOpen = false
    socket.close()
  }
}

function byTcp({ server, query, take, fail }: Exchange): () => void {
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt16BE(query.length)
  const socket = connect(server.port, server.host, () => socket.write(Buffer.concat([length, query])))
  let received = Buffer.alloc(0)
  socket.on('error', fail)
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    const size =
      received.length < LENGTH_BYTES ? Number.POSITIVE_INFINITY : LENGTH_BYTES + received.readUInt16BE()
    if (received.length < size) return
    if (!take(received.subarray(LENGTH_BYTES, size))) fail(new Error('another message'))
    socket.destroy()
  })
  socket.on('end', () => fail(new Error('closed')))
  return () => socket.destroy()
}
