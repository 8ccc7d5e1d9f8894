// Fetch standard, "HTTP CORS protocol": what pages of other origins may do, and what caches may keep.

import { describe, expect, test } from 'vitest'
import type { TrafficRules } from '../../src/rules/options.ts'
import type { Field } from '../../src/semantics/fields.ts'
import { ask, valuesOf, WAYS } from './ways.ts'

type CorsRule = TrafficRules['cors']

const NAMED = { origins: ['https://a.example', 'http://localhost:3000'] }
const ANY = { origins: ['*'] }

function preflight(origin: string, headers?: string): { method: string; fields: Field[] } {
  const asked: Field[] = headers === undefined ? [] : [['access-control-request-headers', headers]]
  return {
    method: 'OPTIONS',
    fields: [['origin', origin], ['access-control-request-method', 'PUT'], ...asked],
  }
}

describe.each(WAYS)('by %s', (way) => {
  const said = async (cors: CorsRule, question: Parameters<typeof ask>[2], answered: Field[] = []) => {
    const { status, fields } = await ask(way, { cors }, question, answered)
    const rest = fields
      .filter(([name]) => name.startsWith('access-control-'))
      .map(([name, value]) => [name, value])
    return { status, said: Object.fromEntries(rest), vary: valuesOf(fields, 'vary').join(', ') }
  }

  test.each<[cors: CorsRule, origin: string | undefined, allowed: string | undefined, vary: string]>([
    [NAMED, 'https://a.example', 'https://a.example', 'Origin'],
    [NAMED, 'http://localhost:3000', 'http://localhost:3000', 'Origin'],
    [NAMED, 'https://a.example.evil', undefined, 'Origin'],
    [NAMED, 'https://evil.example', undefined, 'Origin'],
    [NAMED, 'http://a.example', undefined, 'Origin'],
    [NAMED, 'HTTPS://A.EXAMPLE', undefined, 'Origin'],
    [NAMED, 'null', undefined, 'Origin'],
    [NAMED, 'https://a.example, https://evil.example', undefined, 'Origin'],
    // A cache must not give this response to a page of another origin.
    [NAMED, undefined, undefined, 'Origin'],
    [ANY, 'https://evil.example', '*', ''],
    [ANY, undefined, '*', ''],
  ])('%j: the origin %s may read %s', async (cors, origin, allowed, vary) => {
    const fields: Field[] = origin === undefined ? [] : [['origin', origin]]
    const found = await said(cors, { fields })
    expect(found.said['access-control-allow-origin']).toBe(allowed)
    expect(found.said).not.toHaveProperty('access-control-allow-credentials')
    expect(found.vary).toBe(vary)
  })

  test('credentials are for named origins, and for no other', async () => {
    const cors = { ...NAMED, credentials: true, exposeHeaders: ['X-Total', 'ETag'] }
    expect(await said(cors, { fields: [['origin', 'https://a.example']] })).toEqual({
      status: 200,
      said: {
        'access-control-allow-origin': 'https://a.example',
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': 'X-Total, ETag',
      },
      vary: 'Origin',
    })
    expect((await said(cors, { fields: [['origin', 'https://evil.example']] })).said).toEqual({})
  })

  test('a rule replaces what the handler says, and keeps its Vary', async () => {
    const careless: Field[] = [
      ['access-control-allow-origin', 'https://evil.example'],
      ['access-control-allow-credentials', 'true'],
      ['vary', 'Accept-Encoding'],
    ]
    const fields: Field[] = [['origin', 'https://evil.example']]
    expect(await said(NAMED, { fields }, careless)).toMatchObject({
      said: {},
      vary: 'Accept-Encoding, Origin',
    })
    const varied: Field[] = [['vary', 'accept, origin']]
    expect((await said(NAMED, { fields }, varied)).vary).toBe('accept, origin')
  })

  test('a preflight is answered, and the handler does not see it', async () => {
    const cors = { ...NAMED, maxAge: 600 }
    const { status, seen } = await ask(way, { cors }, preflight('https://a.example'))
    expect([status, seen]).toEqual([204, undefined])
    expect((await said(cors, preflight('https://a.example', 'content-type,x-a'))).said).toEqual({
      'access-control-allow-origin': 'https://a.example',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'content-type,x-a',
      'access-control-max-age': '600',
    })
    const refused = await said(cors, preflight('https://evil.example', 'x-a'))
    expect(refused).toEqual({ status: 204, said: {}, vary: 'Origin' })
  })

  test('a preflight allows the methods and fields that are named', async () => {
    const cors = { ...ANY, methods: ['GET', 'PUT'], headers: ['Authorization'] }
    expect(await said(cors, preflight('https://b.example', 'x-evil'))).toEqual({
      status: 204,
      said: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, PUT',
        'access-control-allow-headers': 'Authorization',
      },
      vary: '',
    })
  })

  test('what a preflight asks for comes back only when it is a list of names', async () => {
    const found = await said(ANY, preflight('https://b.example', 'x-a: "b"'))
    expect(found.said).not.toHaveProperty('access-control-allow-headers')
  })

  test('OPTIONS that is no preflight reaches the handler', async () => {
    const { status } = await ask(
      way,
      { cors: ANY },
      { method: 'OPTIONS', fields: [['origin', 'https://b.example']] },
    )
    expect(status).toBe(200)
  })

  test('Vary stays when a header rule replaces it', async () => {
    const rules = { cors: NAMED, responseHeaders: { set: { Vary: 'Accept' } } }
    const { fields } = await ask(way, rules)
    expect(valuesOf(fields, 'vary').join(', ')).toBe('Accept, Origin')
  })
})
