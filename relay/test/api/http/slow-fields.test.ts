// Text from strangers costs the thread in proportion to its length, and every field has a length that it may not exceed.

import { expect, test } from 'vitest'
import { useStarted } from '../../../../tools/use-started.ts'
import { ENDPOINTS } from '../../../src/core/api/endpoints/endpoints.ts'
import { parseForwarded } from '../../../src/core/client-address/forwarded-header.ts'
import { normalizeIp } from '../../../src/core/client-address/ip-address.ts'
import { componentSchemas, type JsonSchema, referenceTo, type z } from '../../../src/core/config/schema.ts'
import { startTestRelay } from '../../support/relay.ts'

/** An address as long as the field once was allowed to be, on which a pattern ran from each `%` to the end. */
const PERCENT_SIGNS = `${'%'.repeat(8191)}\n`
/** What a hostile text may cost beyond a short one: the pattern took 45 ms and more. */
const SURPLUS_MAX_MS = 20
const ROUNDS = 5

const relay = useStarted(startTestRelay)

/** Milliseconds that this process, which the relay is part of, computes for `work`: the least of a few rounds. */
async function costOf(work: () => unknown): Promise<number> {
  const costs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    costs.push((user + system) / 1000)
  }
  return Math.min(...costs)
}

test.each([
  ['/sdk/renew', { access_token: 'x' }],
  ['/sdk/register', { challenge_id: 'x', siwe_message: 'x', siwe_signature: 'x' }],
])(
  '%s: 8 KB of percent signs in reported_ip cost no more than one, and are invalid_ip',
  async (path, body) => {
    const send = async (reported_ip: string) => {
      const answer = await relay.call('POST', path, { ...body, reported_ip })
      expect(answer).toMatchObject({ status: 400, json: { error: { code: 'invalid_ip' } } })
    }
    await send('%')
    const usual = await costOf(() => send('%'))
    expect(await costOf(() => send(PERCENT_SIGNS))).toBeLessThan(usual + SURPLUS_MAX_MS)
  },
)

test('an address is read in linear time, from wherever it comes', async () => {
  expect(await costOf(() => normalizeIp(PERCENT_SIGNS.repeat(8)))).toBeLessThan(SURPLUS_MAX_MS)
  expect(normalizeIp('fe80::1%eth0')).toBe('fe80::1')
})

test('a Forwarded field of blanks is read in linear time', async () => {
  const blanks = `${' '.repeat(16_000)}"`
  expect(await costOf(() => expect(parseForwarded(blanks)).toBeUndefined())).toBeLessThan(SURPLUS_MAX_MS)
})

interface Field {
  path: string[]
  schema: JsonSchema
}

/** Every text and list within the bodies that the API takes. */
function fieldsOf(schema: JsonSchema, path: string[] = []): Field[] {
  const { $ref, anyOf, properties = {}, items, type } = schema
  if (typeof $ref === 'string') return fieldsOf(componentSchemas()[$ref.split('/').at(-1)!]!, path)
  if (Array.isArray(anyOf)) return anyOf.flatMap((one) => fieldsOf(one, path))
  const inner = Object.entries(properties as Record<string, JsonSchema>)
  return [
    ...(type === 'array' || (type === 'string' && !('enum' in schema)) ? [{ path, schema }] : []),
    ...(items ? fieldsOf(items as JsonSchema, [...path, '0']) : []),
    ...inner.flatMap(([name, one]) => fieldsOf(one, [...path, name])),
  ]
}

/** Discovery reads descriptors itself, and counts why it refuses them: descriptor-rules.test.ts has its bounds. */
const READ_ELSEWHERE = /^descriptor\./

const FIELDS = Object.entries(ENDPOINTS)
  .flatMap(([name, { body }]) =>
    body?.kind === 'json'
      ? fieldsOf(referenceTo(body.schema)).map((field) => ({
          name,
          body: body.schema as z.ZodType,
          at: field.path.join('.'),
          ...field,
        }))
      : [],
  )
  .filter(({ at }) => !READ_ELSEWHERE.test(at))

test.each(FIELDS)(
  '$name: $at has a bound, and what exceeds it is looked at no further',
  ({ body, at, path, schema }) => {
    const limit = (schema.maxLength ?? schema.maxItems) as number
    expect(limit).toBeGreaterThan(0)
    if (schema.type === 'array') return
    const tooLong = '%'.repeat(limit + 1)
    const value = path.reduceRight<unknown>(
      (inner, name) => (name === '0' ? [inner] : { [name]: inner }),
      tooLong,
    )
    const issues = body.safeParse(value).error?.issues ?? []
    const all = issues.flatMap((issue) => (issue.code === 'invalid_union' ? issue.errors.flat() : [issue]))
    const codes = all.filter((issue) => issue.path.join('.') === at).map((issue) => issue.code)
    expect(codes.length).toBeGreaterThan(0)
    expect(codes.filter((code) => code !== 'too_big' && code !== 'custom')).toEqual([])
  },
)
