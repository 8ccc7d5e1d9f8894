// The control client: whatever a relay, or something in its place, answers ends as a coded error in bounded time and memory.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RESPONSE_MAX_BYTES, RETRY_AFTER_MAX_MS } from '../../src/control/limits.ts'
import { envelope, type FakeRelay, failure, startFakeRelay } from '../support/fake-relay.ts'

let relay: FakeRelay
beforeEach(async () => {
  relay = await startFakeRelay({})
})
afterEach(() => relay.close())

describe('envelope', () => {
  it('gives the data of a success', async () => {
    relay.replies['/x'] = () => ({ a: 1 })
    expect(await relay.client.call('/x')).toEqual({ a: 1 })
    expect(relay.calls[0]).toMatchObject({ method: 'GET', path: '/x' })
  })

  it('posts a body as JSON, without cookies (protocol §2.1.7)', async () => {
    relay.replies['/x'] = () => ({})
    await relay.client.call('/x', { body: { b: 2 } })
    expect(relay.calls[0]).toMatchObject({ method: 'POST', body: { b: 2 } })
    expect(relay.calls[0]!.headers['content-type']).toBe('application/json')
    expect(relay.calls[0]!.headers).not.toHaveProperty('cookie')
  })

  it.each(['hostname_conflict', 'lease_not_found', 'rate_limited', 'internal'])(
    'passes %s through',
    async (code) => {
      relay.replies['/x'] = failure(409, code)
      await expect(relay.client.call('/x')).rejects.toMatchObject({
        name: 'SvcError',
        code,
        message: 'told to',
      })
    },
  )

  it.each(['no_such_code', 'constructor', '__proto__'])(
    'does not pass the unknown code %s through (protocol §23.1.2)',
    async (code) => {
      relay.replies['/x'] = failure(400, code)
      await expect(relay.client.call('/x')).rejects.toMatchObject({ code: 'unexpected_answer' })
    },
  )

  it('reads Retry-After in seconds, up to its limit', async () => {
    relay.replies['/x'] = failure(429, 'rate_limited', { 'Retry-After': '7' })
    await expect(relay.client.call('/x')).rejects.toMatchObject({ retryAfterMs: 7000 })
    relay.replies['/x'] = failure(429, 'rate_limited', { 'Retry-After': '999999' })
    await expect(relay.client.call('/x')).rejects.toMatchObject({ retryAfterMs: RETRY_AFTER_MAX_MS })
    relay.replies['/x'] = failure(429, 'rate_limited', { 'Retry-After': 'Fri, 31 Dec 2027 23:59:59 GMT' })
    await expect(relay.client.call('/x')).rejects.toMatchObject({ retryAfterMs: undefined })
  })

  it.each([
    ['no envelope', 200, '{"data":{}}', 'unexpected_answer'],
    ['ok with an error status', 500, '{"ok":true,"data":{}}', 'unexpected_answer'],
    ['an error with a success status', 200, '{"ok":false,"error":{"code":"internal"}}', 'internal'],
    ['an error that is a string', 400, '{"ok":false,"error":"bad"}', 'unexpected_answer'],
    ['an array', 200, '[]', 'unexpected_answer'],
    ['null', 200, 'null', 'unexpected_answer'],
    ['HTML', 200, '<!doctype html>', 'unexpected_answer'],
    ['HTML with 404', 404, '<h1>Not Found</h1>', 'unexpected_answer'],
    ['a gateway of something else', 502, '<h1>Bad Gateway</h1>', 'relay_unreachable'],
    ['nothing', 200, '', 'unexpected_answer'],
    ['bytes that are not UTF-8', 200, Buffer.from([0x7b, 0xff, 0x7d]), 'unexpected_answer'],
  ])('refuses %s', async (_, status, body, code) => {
    relay.replies['/x'] = (_call, response) => void response.writeHead(status).end(body)
    await expect(relay.client.call('/x')).rejects.toMatchObject({ name: 'SvcError', code })
  })
})

describe('bounds', () => {
  it('reads an answer no further than ANSWER_MAX_BYTES, without a Content-Length to warn it', async () => {
    relay.replies['/x'] = (_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 32)));
      }
      response.on('drain', more)
      more()
    }
    await expect(relay.client.call('/x')).rejects.toMatchObject({
      code: 'unexpected_answer',
      message: expect.stringContaining(String(RESPONSE_MAX_BYTES)),
    })
  })

  it('takes an answer of exactly ANSWER_MAX_BYTES', async () => {
    const empty = JSON.stringify({ ok: true, data: '' })
    const data = 'x'.repeat(RESPONSE_MAX_BYTES - empty.length)
    relay.replies['/x'] = (_, response) => envelope(response, 200, { ok: true, data })
    expect(await relay.client.call('/x')).toBe(data)
  })

  it('gives up on an answer that does not come, and on one that does not end', async () => {
    relay.replies['/silent'] = () => undefined
    relay.replies['/stalled'] = (_, response) => void response.writeHead(200).write('{')
    for (const path of ['/silent', '/stalled'])
      await expect(relay.client.call(path, { deadlineMs: 50 })).rejects.toMatchObject({
        code: 'relay_unreachable',
      })
  })

  it('does not follow a redirect: tokens stay with this relay (protocol §2.1.7)', async () => {
    relay.replies['/x'] = (_, response) => void response.writeHead(307, { Location: '/y' }).end()
    relay.replies['/y'] = () => ({})
    await expect(relay.client.call('/x', { body: { access_token: 't' } })).rejects.toMatchObject({
      code: 'relay_unreachable',
    })
    expect(relay.calls.map(({ path }) => path)).toEqual(['/x'])
  })

  it('says `aborted` when the caller aborts, and `relay_unreachable` when nobody listens', async () => {
    const controller = new AbortController()
    relay.replies['/x'] = () => controller.abort()
    await expect(relay.client.call('/x', { signal: controller.signal })).rejects.toMatchObject({
      code: 'aborted',
    })
    await relay.close()
    await expect(relay.client.call('/x')).rejects.toMatchObject({ code: 'relay_unreachable' })
    relay = await startFakeRelay({})
  })
})
