// A DNS server over UDP and TCP for tests, whose records change while it runs, and which can be slow, silent or wrong.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIPv4, type Socket } from 'node:net'

const TYPES = { A: 1, NS: 2, CNAME: 5, TXT: 16, AAAA: 28, CAA: 257 } as const
type DnsType = keyof typeof TYPES

const HEADER_BYTES = 12
/** Response, authoritative, recursion available. */
const FLAGS = 0x8580
const TRUNCATED = 0x0200
const NO_SUCH_NAME = 3
const UDP_MAX_BYTES = 1232
const STRING_MAX_BYTES = 255
/** A name that points at the question's. */
const POINTER = Buffer.from([0xc0, HEADER_BYTES])

interface DnsQuestion {
  /** In lower case, without a dot at the end. */
  name: string
  type: DnsType | undefined
  /** Whether it came over TCP. */
  isTcp: boolean
}

/** Values of the type that was asked, none for a name without it, `silent` for no answer, or the name of an alias. */
type DnsReply = readonly string[] | 'silent' | { cname: string }

export interface DnsServer {
  readonly address: string
  readonly port: number
  /** Every question that came. */
  readonly questions: DnsQuestion[]
  /** Records by name and type, as `'shop.test A'`. */
  readonly records: Map<string, readonly string[]>
  /** Decides before the records do. */
  onQuestion: ((question: DnsQuestion) => DnsReply | undefined | Promise<DnsReply | undefined>) | undefined
  /** Answers a message as over TCP. Undefined for silence. */
  answer(query: Buffer): Promise<Buffer | undefined>
  close(): Promise<void>
}

/** @param port both of UDP and TCP @default a free one */
export async function startDnsServer(
  records: Record<string, readonly string[]> = {},
  { address = '127.0.0.1', port = 0 }: { address?: string; port?: number } = {},
): Promise<DnsServer> {
  const tcp = createServer()
  tcp.listen(port, address)
  await once(tcp, 'listening')
  const bound = (tcp.address() as { port: number }).port
  const udp = createSocket('udp4')
  udp.bind(bound, address)
  await once(udp, 'listening')
  const server: DnsServer = {
    address,
    port: bound,
    questions: [],
    records: new Map(Object.entries(records)),
    onQuestion: undefined,
    answer: (query) => answerTo(server, query, true),
    close: async () => {
      for (const socket of sockets) socket.destroy()
      tcp.close()
      udp.close()
      await once(udp, 'close')
    },
  }
  const sockets = new Set<Socket>()
  udp.on('message', async (query, { address, port }) => {
    const answer = await answerTo(server, query, false)
    if (answer !== undefined) udp.send(answer, port, address, () => {})
  })
  tcp.on('connection', (socket) => {
    sockets.add(socket.on('error', () => {}))
    let received = Buffer.alloc(0)
    socket.on('data', async (bytes: Buffer) => {
      received = Buffer.concat([received, bytes])
      if (received.length < 2 || received.length < 2 + received.readUInt16BE()) return
      const query = received.subarray(2, 2 + received.readUInt16BE())
      received = received.subarray(2 + query.length)
      const answer = await answerTo(server, query, true)
      if (answer !== undefined) socket.write(Buffer.concat([word(answer.length), answer]))
    })
  })
  return server
}

async function answerTo(server: DnsServer, query: Buffer, isTcp: boolean): Promise<Buffer | undefined> {
  const { question, end } = questionOf(query, isTcp)
  server.questions.push(question)
  const { name, type } = question
  const reply = (await server.onQuestion?.(question)) ?? replyOf(server.records, question)
  if (reply === 'silent' || type === undefined) return undefined
  const records =
    'cname' in reply ? [record('CNAME', reply.cname)] : reply.map((value) => record(type, value))
  const isKnown = records.length > 0 || [...server.records.keys()].some((key) => key.startsWith(`${name} `))
  const head = (flags: number, count: number): Buffer =>
    Buffer.concat([
      query.subarray(0, 2),
      word(flags),
      word(1),
      word(count),
      word(0),
      word(0),
      query.subarray(HEADER_BYTES, end),
    ])
  const whole = Buffer.concat([head(FLAGS | (isKnown ? 0 : NO_SUCH_NAME), records.length), ...records])
  return isTcp || whole.length <= UDP_MAX_BYTES ? whole : head(FLAGS | TRUNCATED, 0)
}

/** Whatever is asked for, a name with a CNAME has nothing else. */
function replyOf(records: DnsServer['records'], { name, type }: DnsQuestion): DnsReply {
  const [alias] = records.get(`${name} CNAME`) ?? []
  if (type !== 'CNAME' && alias !== undefined) return { cname: alias }
  return records.get(`${name} ${type}`) ?? []
}

function questionOf(query: Buffer, isTcp: boolean): { question: DnsQuestion; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const code = query.readUInt16BE(at + 1)
  const [type] = Object.entries(TYPES).find(([, number]) => number === code) ?? []
  const name = labels.join('.').toLowerCase()
  return { question: { name, type: type as DnsType | undefined, isTcp }, end: at + 5 }
}

function record(type: DnsType, value: string): Buffer {
  const data = dataOf(type, value)
  return Buffer.concat([POINTER, word(TYPES[type]), word(1), word(0), word(0), word(data.length), data])
}

function dataOf(type: DnsType, value: string): Buffer {
  if (type === 'A' && isIPv4(value)) return Buffer.from(value.split('.').map(Number))
  if (type === 'CAA') {
    const [, flags = '0', tag = '', text = ''] = /^(\d+) (\w+) "(.*)"$/.exec(value) ?? []
    return Buffer.concat([Buffer.of(Number(flags), tag.length), Buffer.from(tag + text)])
  }
  if (type === 'AAAA') {
    const [before = '', after = ''] = value.split('::')
    const [head, tail] = [before.split(':').filter(Boolean), after.split(':').filter(Boolean)]
    const groups = [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail]
    return Buffer.concat(groups.map((group) => word(Number.parseInt(group, 16))))
  }
  if (type === 'TXT') {
    const text = Buffer.from(value)
    const parts: Buffer[] = []
    for (let at = 0; at < text.length || at === 0; at += STRING_MAX_BYTES) {
      const part = text.subarray(at, at + STRING_MAX_BYTES)
      parts.push(Buffer.of(part.length), part)
    }
    return Buffer.concat(parts)
  }
  const labels = value.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]))
  return Buffer.concat([...labels, Buffer.of(0)])
}

function word(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff)
}
