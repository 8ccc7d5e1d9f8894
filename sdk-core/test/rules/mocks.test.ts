// Mock rules: answers without the handler, in their place among the others.

import { describe, expect, it } from 'vitest'
import type { TrafficRules } from '../../src/rules/options.ts'
import { ask, SITE, WAYS } from './ways.ts'

const MOCKS: TrafficRules['mocks'] = [
  { path: '/users/*', method: ['get', 'PUT'], json: { name: 'Ann' } },
  { path: '/users/*', status: 405, headers: { Allow: 'GET, PUT' } },
  { path: '/text', body: 'hello' },
  { path: '/bytes', body: new Uint8Array([104, 105]), headers: { 'content-type': 'image/png' } },
]

describe.each(WAYS)('on the way: %s', (way) => {
  it('answer for their path and method, and the handler gets the others', async () => {
    const users = await ask(way, { mocks: MOCKS }, { path: '/users/1?a=b' })
    expect(users).toMatchObject({ status: 200, text: '{"name":"Ann"}', seen: undefined })
    expect(users.fields).toContainEqual(['content-type', 'application/json'])
    const posted = await ask(way, { mocks: MOCKS }, { path: '/users/1', method: 'POST', content: ['a'] })
    expect(posted).toMatchObject({ status: 405, text: '', seen: undefined })
    expect(posted.fields).toContainEqual(['allow', 'GET, PUT'])
    expect(await ask(way, { mocks: MOCKS }, { path: '/users' })).toMatchObject({ seen: { path: '/users' } })
    expect((await ask(way, { mocks: MOCKS }, { path: '/text' })).fields).toContainEqual([
      'content-type',
      'text/plain; charset=utf-8',
    ])
  })

  it('answer HEAD as GET', async () => {
    expect(await ask(way, { mocks: MOCKS }, { path: '/users/1', method: 'HEAD' })).toMatchObject({
      status: 200,
    })
  })

  it('have bytes, and a type of their own', async () => {
    const { text, fields } = await ask(way, { mocks: MOCKS }, { path: '/bytes' })
    expect(text).toBe('hi')
    expect(fields.filter(([name]) => name === 'content-type')).toEqual([['content-type', 'image/png']])
  })

  it('come after maintenance, redirects and preflights, by the path of the visitor, and before response headers', async () => {
    const rules: TrafficRules = {
      maintenance: { path: '/closed/*' },
      redirects: { path: '/old', to: '/new' },
      rewrites: { path: '/api/*', to: '/*' },
      cors: { origins: ['https://app.example'] },
      requestBody: { maxSize: 3 },
      mocks: [{ path: '/api/users', body: 'mocked' }, { path: '/closed/*' }, { path: '/old' }],
      responseHeaders: { set: { 'X-All': '1' } },
    }
    expect((await ask(way, rules, { path: '/closed/a' })).status).toBe(503)
    expect((await ask(way, rules, { path: '/old' })).status).toBe(302)
    const origin: [string, string] = ['origin', 'https://app.example']
    const preflight = {
      method: 'OPTIONS',
      path: '/api/users',
      fields: [origin, ['access-control-request-method', 'PUT']],
    }
    expect((await ask(way, rules, preflight as never)).status).toBe(204)
    const large = { method: 'POST', path: '/api/users', fields: [['content-length', '4']], content: ['long'] }
    expect((await ask(way, rules, large as never)).status).toBe(413)
    const { text, fields } = await ask(way, rules, { path: '/api/users', fields: [origin] })
    expect(text).toBe('mocked')
    expect(fields).toContainEqual(['access-control-allow-origin', 'https://app.example'])
    expect(fields.map(([name]) => name.toLowerCase())).toContain('x-all')
    expect(SITE).toBeDefined()
  })

  it('a path with two meanings does not lead around a mock', async () => {
    const { status, seen } = await ask(way, { mocks: MOCKS }, { path: '/users/..%2Ftext' })
    expect({ status, seen }).toEqual({ status: 400, seen: undefined })
  })
})
