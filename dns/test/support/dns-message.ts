// Writes queries byte by byte, nearly right ones too, and reads answers with a codec that is not ours.

import { type DecodedPacket, decode } from 'dns-packet'

export const TYPE = { A: 1, NS: 2, SOA: 6, TXT: 16, AAAA: 28, ANY: 255, AXFR: 252, IXFR: 251 } as const

export interface TestQuery {
  name?: string
  type?: number
  class?: number
  id?: number
  /** The second word of the header. */
  flags?: number
  /** Counts of the header, where they are not those of what follows. */
  counts?: { questions?: number; answers?: number; authority?: number; additional?: number }
  edns?: { version?: number; payload?: number; flags?: number; options?: [code: number, content: Buffer][] }
  /** What follows everything else. */
  tail?: Buffer
}

export const RD = 0x0100

/** The type of an OPT record, and its fixed part. */
const OPT = 41
const OPT_BYTES = 11
const PAYLOAD = 1232

export function dnsQuery({ name = 'relay.test', type = TYPE.A, ...query }: TestQuery = {}): Buffer {
  const { id = 0x1234, flags = RD, counts = {}, edns } = query
  const header = Buffer.alloc(12)
  const words = [
    id,
    flags,
    counts.questions ?? 1,
    counts.answers ?? 0,
    counts.authority ?? 0,
    counts.additional ?? (edns ? 1 : 0),
  ]
  for (const [index, value] of words.entries()) header.writeUInt16BE(value, 2 * index)
  const parts = [header, wireName(name), word(type), word(query.class ?? 1)]
  if (edns) parts.push(optRecord(edns))
  if (query.tail) parts.push(query.tail)
  return Buffer.concat(parts)
}

export function optRecord({
  version = 0,
  payload = PAYLOAD,
  flags = 0,
  options = [],
}: NonNullable<TestQuery['edns']>): Buffer {
  const data = Buffer.concat(
    options.flatMap(([code, content]) => [word(code), word(content.length), content]),
  )
  const record = Buffer.alloc(OPT_BYTES)
  record.writeUInt16BE(OPT, 1)
  record.writeUInt16BE(payload, 3)
  record[6] = version
  record.writeUInt16BE(flags, 7)
  record.writeUInt16BE(data.length, 9)
  return Buffer.concat([record, data])
}

export function wireName(name: string): Buffer {
  const labels = name === '' ? [] : name.split('.')
  return Buffer.concat([
    ...labels.map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1')),
    Buffer.alloc(1),
  ])
}

export function word(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

/** The extended code of an answer (RFC 6891 §6.1.3). */
export function rcodeOf(answer: Buffer): number {
  const { additionals = [] } = decode(answer)
  const [opt] = additionals.filter(({ type }) => type === 'OPT') as { extendedRcode: number }[]
  return ((opt?.extendedRcode ?? 0) << 4) | (answer[3]! & 0xf)
}

export function readAnswer(answer: Buffer | undefined): DecodedPacket & { rcode: number; bytes: number } {
  if (answer === undefined) throw new Error('there is no answer')
  return { ...decode(answer), rcode: rcodeOf(answer), bytes: answer.length }
}

/** The content of the COOKIE option of an answer. */
export function cookieOf(answer: Buffer | undefined): Buffer | undefined {
  const [opt] = readAnswer(answer).additionals?.filter(({ type }) => type === 'OPT') ?? []
  const options = (opt as { options?: { code: number; data: Buffer }[] } | undefined)?.options ?? []
  return options.find(({ code }) => code === 10)?.data
}
