// Fuzz target `api`: bodies that are nearly right, or nothing at all, for every endpoint that takes one. Each is refused in
// the words of the contract or becomes what JSON.parse makes of it, in a time that its size sets.

import { deepStrictEqual } from 'node:assert/strict'
import type { ErrorCode } from '@svc/protocol'
import fc from '../../../tools/fast-check.ts'
import { fastest } from '../../../tools/fastest.ts'
import { ENDPOINTS } from '../../src/core/api/endpoints/endpoints.ts'
import { parseJson } from '../../src/core/api/http/json.ts'
import { componentSchemas, parseWith, referenceTo, type z } from '../../src/core/config/schema.ts'
import { RelayError } from '../../src/core/errors.ts'
import { type Components, valuesOf } from '../support/json-schema.ts'
import { startTestRelay } from '../support/relay.ts'
import { FuzzClient } from './client.ts'

/** Bodies tried at a time. */
const ROUND_RUNS = 100
/** One body in this many goes over the wire to a relay as well. */
const WIRE_EVERY = 10
/** Milliseconds that parsing a body may take, whatever its size. */
const PARSE_MAX_MS = 5
/** Milliseconds for each KiB: a hundred times what the slowest kind takes, a tenth of what a quadratic one does. */
const PARSE_MAX_MS_PER_KB = 0.2
const KB = 1024
/** Longer than any body that is not made of one repeated piece. */
const REPEATED_MAX_BYTES: number = 512 * 1024
const ADMIN_TOKEN = 'an-administrator-of-tests'
const HEADERS = { 'Content-Type': 'application/json', Authorization: `Bearer ${ADMIN_TOKEN}` }
const SUCCESS_END = 300

/** An endpoint that takes a body. */
interface Taking {
  method: string
  path: string
  body: z.ZodType
  errors: readonly string[]
  bareFailures?: readonly number[]
}

interface Input {
  endpoint: Taking
  body: Buffer
  /** Where it is cut into chunks. */
  cuts: number[]
}

/** @throws Error with the body, on the first that is not treated as it has to be */
export async function fuzz(goesOn: (runs: number) => boolean, seed: number): Promise<{ runs: number }> {
  const relay = await startTestRelay({ ADMIN_TOKEN })
  const client = new FuzzClient(relay)
  let runs = 0
  const check = async (input: Input): Promise<void> => {
    runs += 1
    checkParsing(input)
    if (runs % WIRE_EVERY === 0) await checkAnswer(client, input)
  }
  try {
    for (let round = 0; goesOn(runs); round++)
      await fc.assert(fc.asyncProperty(inputs(), check), { numRuns: ROUND_RUNS, seed: (seed + round) | 0 })
  } finally {
    client.close()
    await relay.close()
  }
  return { runs }
}

/** @throws Error when the body is taken for something else than it is, or takes too long */
function checkParsing({ endpoint, body }: Input): void {
  const text = body.toString()
  const most = PARSE_MAX_MS + PARSE_MAX_MS_PER_KB * (body.length / KB)
  const ms = fastest(() => read(endpoint, text), most)
  if (ms > most) throw new Error(`${endpoint.path}: ${body.length} bytes took ${ms.toFixed(1)} ms`)
  deepStrictEqual(Object.keys(Object.prototype), [], 'the prototype of all objects has got a member')
}

/** Nothing but the refusals that the endpoint names may come out of it. */
function read(endpoint: Taking, text: string): void {
  try {
    const value = parseJson(text)
    deepStrictEqual(value, JSON.parse(text))
    parseWith(endpoint.body, value)
  } catch (error) {
    const isTyped = error instanceof RelayError && codesOf(endpoint).includes(error.code)
    if (!isTyped) throw error
  }
}

/** @throws Error when the relay answers with anything but success or a refusal that the endpoint names */
async function checkAnswer(client: FuzzClient, input: Input): Promise<void> {
  const { endpoint } = input
  const { status, body } = await client.ask({ ...endpoint, headers: HEADERS, chunks: chunksOf(input) })
  if (status < SUCCESS_END) return
  const text = body.toString()
  const isBare = !text.startsWith('{"ok"')
  if (isBare && endpoint.bareFailures?.includes(status)) return
  const { error }: { error?: { code: ErrorCode } } = JSON.parse(text)
  if (error === undefined || !codesOf(endpoint).includes(error.code))
    throw new Error(`${endpoint.path} answered with ${status} ${text}`)
}

/** Cut into chunks. */
function chunksOf({ body, cuts }: Input): Buffer[] {
  const at = cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b)
  return [0, ...at].map((from, index) => body.subarray(from, at[index] ?? body.length))
}

function codesOf({ errors, bareFailures }: Taking): readonly string[] {
  // what reading refuses is told outside of the envelope there
  return bareFailures ? [...errors, 'invalid_json', 'invalid_request'] : errors
}

function inputs(): fc.Arbitrary<Input> {
  const components = componentSchemas() as Components
  const taking = Object.values(ENDPOINTS).flatMap(({ method, path, body, errors, bareFailures }) =>
    body?.kind === 'json'
      ? [{ method, path, body: body.schema, errors, ...(bareFailures && { bareFailures }) }]
      : [],
  )
  return fc.oneof(...taking.map((endpoint) => inputOf(endpoint, components)))
}

function inputOf(endpoint: Taking, components: Components): fc.Arbitrary<Input> {
  const valid = valuesOf(referenceTo(endpoint.body), components).map((value) => JSON.stringify(value))
  const text = fc.oneof(
    { weight: 6, arbitrary: fc.tuple(valid, fc.array(mutation, { maxLength: 4 })).map(mutated) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 3, arbitrary: fc.tuple(valid, longText, fc.nat()).map(lengthened) },
    { weight: 1, arbitrary: repeated },
  )
  const bytes = fc.oneof(
    { weight: 9, arbitrary: text.map((one) => Buffer.from(one)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 2000 }).map((one) => Buffer.from(one)) },
  )
  return fc.record({
    endpoint: fc.constant(endpoint),
    body: bytes,
    cuts: fc.array(fc.nat(), { maxLength: 3 }),
  })
}

/** Pieces that parsers and patterns stumble over. */
const PIECES = [
  '{',
  '[',
  '}',
  ']',
  '"',
  ',',
  ':',
  '\\',
  '\\u0000',
  '\\ud800',
  '%',
  'fe80::1%',
  ' ',
  '\ufeff',
  '0x',
  '1e999',
  '-0',
  '"a":1,',
  '{"a":',
  '[[],',
  '"__proto__":{"polluted":1},',
  '"constructor":{"prototype":{"polluted":1}},',
  '"access_token":"a",',
  '=',
  'data:',
  'http://',
]

const mutation = fc.record({
  at: fc.nat(),
  remove: fc.nat(3),
  insert: fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 4, unit: 'binary' })),
})

function mutated([text, mutations]: [string, { at: number; remove: number; insert: string }[]]): string {
  let result = text
  for (const { at, remove, insert } of mutations) {
    const from = at % (result.length + 1)
    result = result.slice(0, from) + insert + result.slice(from + remove)
  }
  return result
}

/** One of its texts is a long one. */
function lengthened([text, long, which]: [string, string, number]): string {
  const texts = [...text.matchAll(/:"[^"]*"/g)]
  const chosen = texts[which % Math.max(1, texts.length)]
  if (chosen === undefined) return long
  return `${text.slice(0, chosen.index + 1)}${long}${text.slice(chosen.index + chosen[0].length)}`
}

/** So many bytes; most are few, for there are more of them in a second. */
const bytesOf = fc.oneof({ weight: 4, arbitrary: fc.nat(20_000) }, fc.nat(REPEATED_MAX_BYTES))

/** One piece again and again, between others: what takes longer than its size shows here. */
const repeated = fc
  .record({
    piece: fc.oneof(fc.constantFrom(...PIECES), fc.string({ minLength: 1, maxLength: 3 })),
    bytes: bytesOf,
    before: fc.constantFrom('', '"', '{"a":', '['),
    behind: fc.constantFrom('', '"', '}', ']', '!'),
  })
  .map(({ piece, bytes, before, behind }) => before + repeat(piece, bytes) + behind)

/** The same as a text: one character that patterns repeat, and then one that none of them has there. */
const longText = fc
  .record({
    piece: fc.constantFrom('%', ' ', '0', 'a', '.', ':', '-', '=', '/', '\\', 'A', '\t'),
    bytes: bytesOf,
    behind: fc.constantFrom('', '\n', '!'),
  })
  .map(({ piece, bytes, behind }) => JSON.stringify(repeat(piece, bytes) + behind))

function repeat(piece: string, bytes: number): string {
  return piece.repeat(Math.ceil(bytes / piece.length))
}
