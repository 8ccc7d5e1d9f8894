// What clients may keep, /api/state: entity tags and If-None-Match (RFC 9110 §8.8.3, §13.1.2, §15.4.5).

import { beforeAll, describe, expect, test } from 'vitest'
import { useStarted } from '../../../../tools/use-started.ts'
import { isKnown } from '../../../src/core/http/entity-tag.ts'
import { startTestRelay } from '../../support/relay.ts'

const relay = useStarted(startTestRelay)
beforeAll(async () => {
  await relay.register('kept')
})

const ask = (method = 'GET', headers = {}) => relay.call(method, '/api/state', undefined, headers)

describe('/api/state', () => {
  test('has a strong tag, which is the same while the state is', async () => {
    const [first, second] = [await ask(), await ask()]
    expect(first.headers.etag).toMatch(/^"[\w-]{43}"$/)
    expect(second.headers.etag).toBe(first.headers.etag)
    expect(first.headers['cache-control']).toBe('no-cache')
  })

  test('is not sent to who has it, whatever else that has', async () => {
    const { etag } = (await ask()).headers
    for (const known of [etag, `W/${etag}`, `"another", W/"one,two" ,${etag}`, '*']) {
      const answer = await ask('GET', { 'If-None-Match': known })
      expect(answer).toMatchObject({ status: 304, text: '', headers: { etag, 'cache-control': 'no-cache' } })
      expect(answer.headers).not.toHaveProperty('content-length')
      expect(answer.headers).not.toHaveProperty('content-type')
    }
  })

  test('is sent to who has another', async () => {
    const { etag, json } = { etag: (await ask()).headers.etag!, json: (await ask()).json }
    for (const other of ['"another"', etag.slice(1, -1), '', `"${etag}`, `"*"`]) {
      const answer = await ask('GET', { 'If-None-Match': other })
      expect(answer).toMatchObject({ status: 200, json })
    }
  })

  test('has another tag once a lease comes, and the client gets it', async () => {
    const { etag } = (await ask()).headers
    await relay.register('newcomer')
    const answer = await ask('GET', { 'If-None-Match': etag })
    expect(answer.status).toBe(200)
    expect(answer.headers.etag).not.toBe(etag)
    expect(answer.text).toContain('newcomer')
  })

  test('HEAD tells the same without the body', async () => {
    const { headers, text } = await ask()
    const head = await ask('HEAD')
    expect(head).toMatchObject({ status: 200, text: '', headers: { etag: headers.etag } })
    expect(head.headers['content-length']).toBe(`${Buffer.byteLength(text)}`)
    expect(await ask('HEAD', { 'If-None-Match': headers.etag })).toMatchObject({ status: 304 })
  })

  test('other methods are told of both', async () => {
    expect(await ask('POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })
})

test('what only the administrator sees is not kept', async () => {
  const { headers } = await relay.call('GET', '/api/policy/state')
  expect(headers['cache-control']).toBe('no-store')
  expect(headers).not.toHaveProperty('etag')
})

test('a long header costs no more than its length', () => {
  expect(isKnown('"'.repeat(16_000), '"tag"')).toBe(false)
  expect(isKnown('W/'.repeat(8_000), '"tag"')).toBe(false)
  expect(isKnown(`${'"x",'.repeat(4_000)}"tag"`, '"tag"')).toBe(true)
})
