// The tool server of the landing page: MCP 2025-06-18 over Streamable HTTP, and what hostile callers get.
import { describe, expect, test } from 'vitest'
import { mcpServer } from '../src/landing/demos/mcp-server.ts'
import { createToolCalls } from '../src/landing/demos/tool-calls.ts'

const URL = 'https://tab.relay.test/'
const JSON_TYPE = { 'Content-Type': 'application/json' }

function started() {
  const { calls, tools } = createToolCalls()
  const server = mcpServer(tools, () => new Response('about'))
  const send = async (body: string, headers: Record<string, string> = JSON_TYPE, init: RequestInit = {}) =>
    await server(new Request(URL, { method: 'POST', headers, body, ...init }))
  const call = async (method: string, params: object = {}) =>
    (await send(JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }))).json()
  return { calls, server, send, call }
}

describe('the protocol', () => {
  test('initialize agrees on a revision that the server has (lifecycle §Version Negotiation)', async () => {
    const { call } = started()
    const versionOf = async (protocolVersion: string) =>
      (await call('initialize', { protocolVersion })).result.protocolVersion
    expect(await versionOf('2025-03-26')).toBe('2025-03-26')
    expect(await versionOf('2099-01-01')).toBe('2025-06-18')
  })

  test('a notification has no answer, and an unknown method is an error of JSON-RPC', async () => {
    const { send, call } = started()
    const { status } = await send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
    expect(status).toBe(202)
    expect(await call('ping')).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
    expect(await call('resources/list')).toMatchObject({ id: 7, error: { code: -32601 } })
    expect(await call('tools/call', { name: 'toString' })).toMatchObject({ error: { code: -32602 } })
  })

  test.each([
    ['{', -32700],
    ['[]', -32600],
    ['{"id":1}', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
  ])('%s is refused with %i', async (body, code) => {
    const response = await started().send(body)
    expect(response.status).toBe(400)
    expect((await response.json()).error.code).toBe(code)
  })

  test('a page of another site, a form, a long message and another revision are refused', async () => {
    const { send, server } = started()
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    const statusOf = async (headers: Record<string, string>, body = ping) =>
      (await send(body, headers)).status
    expect(await statusOf({ ...JSON_TYPE, Origin: 'https://evil.test' })).toBe(403)
    expect(await statusOf({ ...JSON_TYPE, Origin: 'https://tab.relay.test' })).toBe(200)
    expect(await statusOf({ 'Content-Type': 'text/plain' })).toBe(415)
    expect(await statusOf(JSON_TYPE, ' '.repeat(65_537))).toBe(413)
    expect(await statusOf({ ...JSON_TYPE, 'MCP-Protocol-Version': '1' })).toBe(400)
    expect((await server(new Request(URL))).status).toBe(405)
    expect((await server(new Request(`${URL}other`))).status).toBe(404)
    const page = await server(new Request(URL, { headers: { Accept: 'text/html' } }))
    expect(await page.text()).toBe('about')
  })
})

describe('the tools', () => {
  const textOf = (answer: { result: { content: { text: string }[] } }) => answer.result.content[0]!.text

  test('ask returns what the owner answers', async () => {
    const { calls, call } = started()
    const asked = call('tools/call', { name: 'ask', arguments: { question: 'Tea?' } })
    await expect.poll(() => calls.value.length).toBe(1)
    calls.value[0]!.answer!('yes')
    expect(textOf(await asked)).toBe('yes')
    expect(calls.value[0]).toMatchObject({ text: 'Tea?', state: 'answered', answered: 'yes' })
  })

  test('a caller who leaves frees its question, and five may wait', async () => {
    const { calls, send, call } = started()
    const leaving = new AbortController()
    const question = { name: 'ask', arguments: { question: 'Tea?' } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: question })
    const all = Array.from({ length: 5 }, () => send(body, JSON_TYPE, { signal: leaving.signal }))
    await expect.poll(() => calls.value.length).toBe(5)
    expect(await call('tools/call', question)).toMatchObject({ result: { isError: true } })
    leaving.abort()
    await Promise.all(all)
    expect(calls.value.map(({ state }) => state)).toEqual(Array(5).fill('over'))
  })

  test('a flood of texts hides no question, so that no more than five wait', async () => {
    const { calls, send, call } = started()
    const leaving = new AbortController()
    const question = { name: 'ask', arguments: { question: 'Tea?' } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: question })
    const all = Array.from({ length: 5 }, () => send(body, JSON_TYPE, { signal: leaving.signal }))
    await expect.poll(() => calls.value.length).toBe(5)
    for (let at = 0; at < 30; at += 1) await call('tools/call', { name: 'show', arguments: { text: 'spam' } })
    expect(calls.value.filter(({ text }) => text === 'Tea?')).toHaveLength(5)
    expect(calls.value.length).toBeLessThanOrEqual(25)
    expect(await call('tools/call', question)).toMatchObject({ result: { isError: true } })
    leaving.abort()
    await Promise.all(all)
  })

  test('a caller who has left before its question is there takes nobody’s place', async () => {
    const { calls, send } = started()
    const question = { name: 'ask', arguments: { question: 'Tea?' } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: question })
    await send(body, JSON_TYPE, { signal: AbortSignal.abort() })
    expect(calls.value).toEqual([])
  }, 5_000)

  test.each([[undefined], [''], [7], ['x'.repeat(2_001)]])('show takes no %s', async (text) => {
    const { calls, call } = started()
    expect(await call('tools/call', { name: 'show', arguments: { text } })).toMatchObject({
      result: { isError: true },
    })
    expect(calls.value).toEqual([])
  })

  test('the page lists the latest 20', async () => {
    const { calls, call } = started()
    for (let at = 1; at <= 21; at += 1)
      await call('tools/call', { name: 'show', arguments: { text: `${at}` } })
    expect(calls.value.map(({ text }) => text)).toEqual(Array.from({ length: 20 }, (_, at) => `${21 - at}`))
  })
})
