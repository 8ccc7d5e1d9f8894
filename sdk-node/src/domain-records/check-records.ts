// Checks the records of a custom domain: at each authoritative name server, and what resolvers still have in their cache.

import type { DnsClient, LookUpStep, RecordKind, ServerAnswer } from '@svc/dns/client'
import { type CaaAnswer, whyUnprotected } from '@svc/sdk-core'
import { accountsIn, answerOf, whyOpen } from './caa-problem.ts'
import type { WantedRecord, WantedRecords } from './wanted-records.ts'

/**
 * - `ok`: every name server that answers has it
 * - `missing`: one has no such record
 * - `wrong`: one has another value, or one too many
 * - `unknown`: none answers
 */
type RecordState = 'ok' | 'missing' | 'wrong' | 'unknown'

export interface RecordFinding {
  type: WantedRecord['type']
  name: string
  state: RecordState
  /** What was found and where, for people. */
  message: string
  /** What each name server has. */
  servers: { server: string; values: string[]; problem?: string | undefined }[]
  /** A value that a resolver still has in its cache, and for how many seconds; undefined when it has the new one. */
  cached?: { values: string[]; ttl: number } | undefined
}

/** Why the values of one server are not right; undefined when they are. */
type Problem = { state: 'missing' | 'wrong'; message: string } | undefined
type Judge = (values: readonly string[]) => Problem

const OWNER = 'svc-address='
const NONE: NonNullable<Problem> = { state: 'missing', message: 'has no such record' }

/** Checks all records at once. Never rejects but with the reason of the client's signal. */
export async function checkRecords(wanted: WantedRecords, client: DnsClient): Promise<RecordFinding[]> {
  const [proof, ...others] = wanted.records
  const caa = others.filter(({ type }) => type === 'CAA').map(({ value }) => value)
  return await Promise.all([
    checkRecord(proof!, ownerProblem(proof!.value), client),
    checkPath(wanted, client),
    ...(caa.length > 0 ? [checkProtection(wanted.domain, caa, client)] : []),
  ])
}

/** Whoever names two owners names none. */
function ownerProblem(value: string): Judge {
  return (values) => {
    const owners = values.filter((one) => one.startsWith(OWNER))
    if (owners.length === 0) return NONE
    const other = owners.find((one) => one.toLowerCase() !== value)
    if (other !== undefined) return { state: 'wrong', message: `has ${other}, another identity` }
    return owners.length === 1 ? undefined : { state: 'wrong', message: 'has the value twice' }
  }
}

/** The domain may lead to the relay by its addresses, or by the canonical hostname. */
async function checkPath(wanted: WantedRecords, client: DnsClient): Promise<RecordFinding> {
  const { domain, canonical, addresses, records } = wanted
  const set = records.find(({ name, type }) => name === domain && type !== 'CAA')!
  const judge: Judge = (values) => {
    if (values.length === 0) return NONE
    const other = values.find((value) => !addresses.some((one) => one.value === value))
    return other === undefined
      ? undefined
      : { state: 'wrong', message: `has ${other}, which is not the relay's` }
  }
  const subject = { name: domain, type: set.type }
  try {
    const families = await Promise.all([client.lookUp(domain, 'A'), client.lookUp(domain, 'AAAA')])
    const isNamed = families.some((steps) => steps.some(({ name }) => name === canonical))
    const answers = joined(families)
    const type = isNamed ? 'CNAME' : set.type
    const finding = conclude({ name: domain, type }, answers, isNamed ? () => undefined : judge)
    return await withCached(finding, type, judge, isNamed ? canonical : undefined, client)
  } catch (error) {
    return unknown(subject, error)
  }
}

/** What each server says of both families, each at the end of its CNAMEs. */
function joined([ipv4, ipv6]: readonly LookUpStep[][]): ServerAnswer[] {
  const [first, second] = [ipv4!.at(-1)!.answers, ipv6!.at(-1)!.answers]
  return first.map((answer) => {
    const other = second.find(({ server }) => server === answer.server)
    const problem = answer.problem ?? other?.problem
    return {
      server: answer.server,
      records: [...answer.records, ...(other?.records ?? [])],
      ...(problem !== undefined && { problem }),
    }
  })
}

/** As an authority reads them: the records of the domain, or of the first name above that has some. */
async function checkProtection(
  domain: string,
  wanted: readonly string[],
  client: DnsClient,
): Promise<RecordFinding> {
  const subject = { name: domain, type: 'CAA' } as const
  let answers: readonly ServerAnswer[] = []
  let count = 0
  const ask = async (name: string): Promise<CaaAnswer> => {
    const [step] = await client.lookUp(name, 'CAA', () => true)
    answers = step!.answers
    count += 1
    const records = answers.flatMap((answer) => answer.records)
    if (answers.every(({ problem }) => problem !== undefined))
      throw new Error(answers.map(({ server, problem }) => `${server} ${problem}`).join('; '))
    const values = records.filter(({ type }) => type === 'CAA').map(({ value }) => value)
    return answerOf(
      values,
      records.some(({ type }) => type === 'CNAME'),
    )
  }
  try {
    const why = await whyUnprotected(domain, accountsIn(wanted), ask, new AbortController().signal)
    // What one server lacks, an authority may not see.
    const judge: Judge = (values) => (values.length === 0 ? NONE : undefined)
    const found = conclude(subject, answers, judge)
    const state = answers.some(({ records }) => records.length > 0) ? 'wrong' : 'missing'
    const finding: RecordFinding = why === undefined ? found : { ...found, state, message: why }
    if (count > 1) return finding
    const judgeCached: Judge = (values) => {
      const message = values.length === 0 ? NONE.message : whyOpen(domain, values, wanted)
      return message === undefined ? undefined : { state: 'wrong', message }
    }
    return await withCached(finding, 'CAA', judgeCached, undefined, client)
  } catch (error) {
    return unknown(subject, error)
  }
}

async function checkRecord(
  { name, type }: WantedRecord,
  judge: Judge,
  client: DnsClient,
): Promise<RecordFinding> {
  try {
    const steps = await client.lookUp(name, type)
    return await withCached(
      conclude({ name, type }, steps.at(-1)!.answers, judge),
      type,
      judge,
      undefined,
      client,
    )
  } catch (error) {
    return unknown({ name, type }, error)
  }
}

function conclude(
  subject: Pick<RecordFinding, 'name' | 'type'>,
  answers: readonly ServerAnswer[],
  judge: Judge,
): RecordFinding {
  const servers = valuesOf(answers)
  const answered = servers.filter(({ problem }) => problem === undefined)
  const silent = servers.filter(({ problem }) => problem !== undefined)
  const beside = silent.map(({ server, problem }) => `${server} ${problem}`)
  if (answered.length === 0) return { ...subject, state: 'unknown', message: beside.join('; '), servers }
  const wrong = answered.map(({ server, values }) => ({ server, problem: judge(values) }))
  // A wrong value is worse than none, and both are worse than a server that does not answer.
  const worst =
    wrong.find(({ problem }) => problem?.state === 'wrong') ?? wrong.find(({ problem }) => problem)
  const found =
    worst === undefined ? [`as it has to be at ${answered.map(({ server }) => server).join(', ')}`] : []
  const said = wrong.flatMap(({ server, problem }) => (problem ? [`${server} ${problem.message}`] : []))
  const message = [...said, ...found, ...beside].join('; ')
  return { ...subject, state: worst?.problem?.state ?? 'ok', message, servers }
}

/** Adds what the resolver has in its cache, where that is not yet what the name servers have. */
async function withCached(
  finding: RecordFinding,
  kind: RecordKind,
  judge: Judge,
  target: string | undefined,
  client: DnsClient,
): Promise<RecordFinding> {
  if (finding.state !== 'ok') return finding
  const cached = await client.cached(finding.name, kind)
  if (cached === undefined || cached.ttl === 0) return finding
  const values = cached.records.map(({ value }) => value)
  const isNew = target === undefined ? judge(values) === undefined : values.includes(target)
  return isNew ? finding : { ...finding, cached: { values, ttl: cached.ttl } }
}

function valuesOf(answers: readonly ServerAnswer[]): RecordFinding['servers'] {
  return answers.map(({ server, records, problem }) => ({
    server,
    values: records.map(({ value }) => value),
    problem,
  }))
}

function unknown(subject: Pick<RecordFinding, 'name' | 'type'>, error: unknown): RecordFinding {
  return { ...subject, state: 'unknown', message: (error as Error).message, servers: [] }
}
