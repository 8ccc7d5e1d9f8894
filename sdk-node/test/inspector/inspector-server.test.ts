// The inspector's own server: who may ask, what the list and an entry give, and how a page follows it.

import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DIRECT, type DirectlyHandled } from '@svc/sdk-core'
import type { Inspection } from '@svc/sdk-core/inspector'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AGENT_PATH, type SignIn } from '../../src/agent/api-messages.ts'
import {
  type EntryDetail,
  type EntryList,
  INSPECTOR_PATH,
  type PageSettings,
} from '../../src/inspector/api-messages.ts'
import {
  type InspectorServer,
  newInspection,
  startInspectorServer,
} from '../../src/inspector/inspector-server.ts'
import { PageSettingsFile } from '../../src/inspector/page-settings.ts'

let server: InspectorServer
let inspection: Inspection
let token: string
const inspector = () => inspection.inspector

beforeEach(async () => {
  inspection = newInspection()
  server = await startInspectorServer(inspection, (error) => expect.fail(String(error)))
  token = await signIn()
})
afterEach(() => server.close())

async function signIn(): Promise<string> {
  const { ticket } = server.ticket()
  const { data } = await ask<SignIn>(AGENT_PATH.redeem, { ticket }, {})
  return data.access_token
}

interface Asked<Data> {
  status: number
  data: Data
  error?: { code: string; message: string }
}

async function ask<Data>(path: string, body?: object, fields?: Record<string, string>): Promise<Asked<Data>> {
  const headers = {
    ...(fields ?? { Authorization: `Bearer ${token}` }),
    ...(body && { 'Content-Type': 'application/json' }),
  }
  const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
  const response = await fetch(server.url + path, init)
  return { status: response.status, ...((await response.json()) as Omit<Asked<Data>, 'status'>) }
}

describe('what a person chose for the page', () => {
  it('is kept for the next command, whose page has another origin', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-page-settings-'))
    const path = join(folder, 'svc', 'inspector.json')
    const restart = async (): Promise<void> => {
      await server.close()
      const failed = (error: unknown) => expect.fail(String(error))
      server = await startInspectorServer(inspection, failed, undefined, new PageSettingsFile(path))
      token = await signIn()
    }
    const chosen = async () => (await ask<PageSettings>(INSPECTOR_PATH.settings)).data
    await restart()
    expect(await chosen()).toEqual({ single_keys: true })
    expect((await ask(INSPECTOR_PATH.setSettings, { single_keys: 'no' })).status).toBe(400)
    expect((await ask(INSPECTOR_PATH.setSettings, { single_keys: false })).status).toBe(200)
    await restart()
    expect(await chosen()).toEqual({ single_keys: false })
    expect((await stat(path)).mode & 0o077).toBe(0)
    await writeFile(path, '{"single_keys":')
    expect(await chosen()).toEqual({ single_keys: true })
    await rm(folder, { recursive: true })
  })

  it('is for its owner', async () => {
    for (const body of [undefined, { single_keys: false }]) {
      const path = body ? INSPECTOR_PATH.setSettings : INSPECTOR_PATH.settings
      expect((await ask(path, body, {})).status).toBe(401)
    }
  })
})

const list = async (query = '') => (await ask<EntryList>(`${INSPECTOR_PATH.entries}${query}`)).data

/** A direct handler that answers with the given text. */
function target(text: string, status = 200): DirectlyHandled {
  const handler: DirectlyHandled = () => new Response(text, { status })
  handler[DIRECT] = ({ body, onSent }) => ({
    respond: async () => {
      onSent?.()
      while (body && (await body.next()));
      const content = { pieces: [new TextEncoder().encode(text)], size: text.length, done: true }
      const fields = [['content-type', 'application/json', 'Content-Type'] as const]
      return {
        status,
        statusText: '',
        fields,
        length: undefined,
        ready: () => content,
        next: async () => content,
        cancel: () => {},
      }
    },
    cancel: () => {},
  })
  return handler
}

/** Sends a request on the direct path, and reads the answer. */
async function visit(handler: DirectlyHandled, path: string, fields: [string, string][] = []): Promise<void> {
  const url = new URL(path, 'https://site.example')
  const answer = await handler[DIRECT]!({ method: 'GET', url, fields, body: undefined })!.respond()
  answer.ready()
}

describe('who may ask', () => {
  it('nobody without a token, and a ticket works once', async () => {
    expect(await ask(INSPECTOR_PATH.entries, undefined, {})).toMatchObject({ status: 401 })
    const { ticket, url } = server.ticket()
    expect(url).toBe(`${server.url}/#ticket=${ticket}`)
    expect(await ask(AGENT_PATH.redeem, { ticket }, {})).toMatchObject({ status: 200 })
    expect(await ask(AGENT_PATH.redeem, { ticket }, {})).toMatchObject({ status: 401 })
  })

  it('no page that reaches it by a name of its own (DNS rebinding)', async () => {
    const { port } = new URL(server.url)
    const headers = {
      Host: `evil.example:${port}`,
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
    }
    const asked = request({ port, host: '127.0.0.1', method: 'POST', path: INSPECTOR_PATH.pause, headers })
    asked.end('{"paused":true}')
    const [response] = await once(asked, 'response')
    expect(response.statusCode).toBe(421)
    response.resume()
    expect(inspector().isPaused).toBe(false)
  })

  it('no page of another origin, even with the token', async () => {
    const fields = { Authorization: `Bearer ${token}`, Origin: 'https://evil.example' }
    expect(await ask(INSPECTOR_PATH.entries, undefined, fields)).toMatchObject({
      status: 403,
      error: { code: 'forbidden_origin' },
    })
  })
})

it('lists what came with secrets masked, and gives all of one entry, unmasked when asked', async () => {
  const handler = inspector().wrap(target('{"a":1}'), { tunnel: 'web' })
  await visit(handler, '/hook?token=s3cret&page=2', [['authorization', 'Bearer s3cret']])
  const { entries, state } = await list()
  expect(entries).toMatchObject([
    {
      method: 'GET',
      path: '/hook?token=••••••&page=2',
      status: 200,
      state: 'done',
      tunnel: 'web',
      response_bytes: 7,
    },
  ])
  expect(state).toMatchObject({ entries: 1, paused: false, tunnels: ['web'], dropped_entries: 0 })
  const { id } = entries[0]!
  const { data: masked } = await ask<EntryDetail>(`${INSPECTOR_PATH.entry}?id=${id}`)
  expect(JSON.stringify(masked)).not.toContain('s3cret')
  expect(masked).toMatchObject({
    masked: true,
    times: { sent: expect.any(Number), head: expect.any(Number), end: expect.any(Number) },
    request: {
      headers: [{ name: 'authorization', value: 'Bearer ••••••', masked: true }],
      body: { view: { kind: 'none' } },
    },
    response: {
      status: 200,
      body: { wire_bytes: 7, decoded_bytes: 7, view: { kind: 'json', text: '{\n  "a": 1\n}' } },
    },
  })
  const { data: shown } = await ask<EntryDetail>(`${INSPECTOR_PATH.entry}?id=${id}&unmask=true`)
  expect(shown).toMatchObject({ masked: false, url: 'https://site.example/hook?token=s3cret&page=2' })
  expect(shown.request.headers).toEqual([{ name: 'authorization', value: 'Bearer s3cret' }])
})

it('an entry that is not there is entry_not_found, a wrong filter invalid_request', async () => {
  expect(await ask(`${INSPECTOR_PATH.entry}?id=none-1`)).toMatchObject({
    status: 404,
    error: { code: 'entry_not_found' },
  })
  for (const query of ['status=abc', 'limit=0', 'wait_ms=99999'])
    expect(await ask(`${INSPECTOR_PATH.entries}?${query}`)).toMatchObject({
      status: 400,
      error: { code: 'invalid_request' },
    })
})

it('a page follows the list: a question waits for a change, and has what changed and went', async () => {
  const handler = inspector().wrap(target('ok'))
  await visit(handler, '/first')
  const { cursor, entries } = await list()
  const waiting = list(`?after=${cursor}&wait_ms=8000`)
  await visit(handler, '/second')
  const next = await waiting
  expect(next).toMatchObject({ reset: false, entries: [{ path: '/second' }], removed: [] })
  inspector().clear()
  const last = await list(`?after=${next.cursor}`)
  expect(last.removed).toEqual(expect.arrayContaining([entries[0]!.id, next.entries[0]!.id]))
  expect(await list('?after=other.1')).toMatchObject({ reset: true, entries: [] })
})

it('pauses, clears, and repeats an edited request', async () => {
  const handler = inspector().wrap(target('{"ok":true}'))
  await visit(handler, '/kept')
  expect((await ask(INSPECTOR_PATH.pause, { paused: true })).data).toMatchObject({ paused: true })
  await visit(handler, '/passed')
  expect((await ask(INSPECTOR_PATH.pause, { paused: false })).data).toMatchObject({
    paused: false,
    skipped: 1,
  })
  const [entry] = (await list()).entries
  const edit = { method: 'POST', url: '/other?x=1', text: '{"b":2}', headers: [{ name: 'X-A', value: '1' }] }
  const { data } = await ask<{ id: string }>(INSPECTOR_PATH.replay, { id: entry!.id, edit })
  const { data: detail } = await ask<EntryDetail>(`${INSPECTOR_PATH.entry}?id=${data.id}`)
  expect(detail).toMatchObject({
    method: 'POST',
    path: '/other?x=1',
    replay_of: entry!.id,
    request: {
      headers: [
        { name: 'x-a', value: '1' },
        { name: 'content-length', value: '7' },
      ],
    },
  })
  expect(
    await ask(INSPECTOR_PATH.replay, { id: entry!.id, edit: { url: 'https://evil.example/' } }),
  ).toMatchObject({
    status: 400,
  })
  expect((await ask(INSPECTOR_PATH.clear, {})).data).toMatchObject({ entries: 0, bytes: 0, skipped: 0 })
})

it('repeats many times with a pause, until it is stopped', async () => {
  const handler = inspector().wrap(target('ok'))
  await visit(handler, '/again')
  const { id } = (await list()).entries[0]!
  await ask(INSPECTOR_PATH.replay, { id, count: 3 })
  await expect.poll(() => inspector().entries.length).toBe(4)
  await ask(INSPECTOR_PATH.replay, { id, count: 100, pause_ms: 60_000 })
  await ask(INSPECTOR_PATH.stopReplays, {})
  expect(inspector().entries).toHaveLength(5)
})
