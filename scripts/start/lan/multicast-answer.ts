// The answer to a message of Multicast DNS (RFC 6762), for one host and all names below it.
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet, type Question } from 'dns-packet'

/** Bytes of a message: those of an Ethernet frame. Longer ones are nobody's honest question. */
const MESSAGE_MAX_BYTES = 1500
/** Questions of one message that are read. */
const QUESTIONS_MAX = 16
/** Seconds, of RFC 6762 §10. */
const TTL_S = 120
/** Seconds, for resolvers that only know DNS (§6.7). */
const LEGACY_TTL_S = 10
export const MULTICAST_PORT = 5353
/** The class IN with the bit that asks for an answer by unicast (§5.4), as dns-packet names it. */
const UNICAST_CLASS = 'UNKNOWN_32769'

export interface Names {
  /** The host that is answered for, with the names below it. */
  host: string
  address: string
}

export interface MulticastAnswer {
  message: Buffer
  /** Whether it goes to the asker alone. */
  isUnicast: boolean
}

/**
 * @param port from which the message came
 * @returns undefined for everything but a question about these names
 */
export function answerTo(message: Buffer, port: number, names: Names): MulticastAnswer | undefined {
  const query = parse(message)
  if (query?.type !== 'query' || query.opcode !== 'QUERY') return undefined
  const questions = (query.questions ?? []).slice(0, QUESTIONS_MAX).filter((one) => isOurs(one.name, names))
  const isLegacy = port !== MULTICAST_PORT
  const answers = questions.flatMap((question) => recordsFor(question, names, isLegacy))
  if (answers.length === 0) return undefined
  const isUnicast = isLegacy || questions.every((question) => `${question.class}` === UNICAST_CLASS)
  const echo = isLegacy
    ? { id: query.id ?? 0, questions: questions.map(({ name, type }) => ({ name, type })) }
    : { id: 0 }
  return { message: encode({ ...echo, type: 'response', flags: AUTHORITATIVE_ANSWER, answers }), isUnicast }
}

/** Says where the host is, unasked; with a `ttl` of 0, that it is gone. */
export function announcementOf({ host, address }: Names, ttl: number = TTL_S): Buffer {
  const answers: Answer[] = [{ type: 'A', name: host, ttl, data: address, flush: true }]
  return encode({ id: 0, type: 'response', flags: AUTHORITATIVE_ANSWER, answers })
}

/** Asks whether somebody else has the name (§8.1). */
export function probeFor({ host }: Names): Buffer {
  return encode({ id: 0, type: 'query', questions: [{ type: 'A', name: host }] })
}

/** Returns whether a message says that the host is at another address. */
export function isConflict(message: Buffer, { host, address }: Names): boolean {
  const said = parse(message)
  if (said?.type !== 'response') return false
  return (said.answers ?? []).some(
    (record) => record.type === 'A' && record.name.toLowerCase() === host && record.data !== address,
  )
}

type Parsed = Packet & { opcode?: string }

function parse(message: Buffer): Parsed | undefined {
  if (message.length > MESSAGE_MAX_BYTES) return undefined
  try {
    return decode(message)
  } catch {
    return undefined
  }
}

function isOurs(name: string, { host }: Names): boolean {
  const asked = name.toLowerCase()
  return asked === host || asked.endsWith(`.${host}`)
}

/** A question for an IPv6 address gets the answer that the name has none, so that nobody waits for one (RFC 6762 §6.1). */
function recordsFor({ name, type }: Question, { address }: Names, isLegacy: boolean): Answer[] {
  const common = isLegacy ? { name, ttl: LEGACY_TTL_S } : { name, ttl: TTL_S, flush: true }
  if (type === 'A' || `${type}` === 'ANY') return [{ ...common, type: 'A', data: address }]
  return type === 'AAAA'
    ? [{ ...common, type: 'NSEC', data: { nextDomain: name, rrtypes: ['A'] } } as Answer]
    : []
}
