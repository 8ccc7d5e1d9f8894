// The inspector's page over a recorder of the same tab: the operations that the API of a command has, without one.

import { Inspection, inspect } from '@svc/sdk-core/inspector'
import { expect, test } from 'vitest'
import { descriptorSet } from '../../../../sdk-core/test/inspector/protobuf-set.ts'
import { tabSource } from '../../src/inspector/tab-source.ts'

const never = new AbortController().signal

function recorded() {
  let number = 0
  const recorder = inspect(async (request) => {
    const said = await request.text()
    number += 1
    return new Response(`${number}: ${said}`)
  })
  const send = async (path: string, body: string): Promise<string> => {
    const request = new Request(`https://demo.example${path}`, {
      method: 'POST',
      body,
      headers: { authorization: 'Bearer secret' },
    })
    const info = { canonicalUrl: 'https://demo.example', waitUntil: () => {} } as never
    return (await recorder.fetch(request, info, info)).text()
  }
  return { recorder, send, source: tabSource(new Inspection(recorder)) }
}

test('a question waits for the next change, and ends when nobody asks any more', async () => {
  const { send, source } = recorded()
  const first = await source.list({}, never)
  expect(first.entries).toEqual([])
  const asked = source.list({ after: first.cursor }, never)
  await send('/one', 'a')
  expect((await asked).entries).toMatchObject([{ path: '/one', method: 'POST' }])

  const leaving = new AbortController()
  const { cursor } = await source.list({}, never)
  const waiting = source.list({ after: cursor }, leaving.signal)
  leaving.abort()
  expect((await waiting).entries).toEqual([])
})

test('an entry is read, masked, repeated with a change, compared and taken along', async () => {
  const { send, source } = recorded()
  expect(await send('/hook', 'one')).toBe('1: one')
  const { id } = (await source.list({}, never)).entries[0]!
  const field = { name: 'authorization', value: 'Bearer ••••••', masked: true }
  expect((await source.entry(id, false)).request.headers).toContainEqual(field)
  expect(atob((await source.body(id, 'response')).base64)).toBe('1: one')
  const replayed = await source.replay({ id, edit: { text: 'two' } })
  await expect
    .poll(async () => source.entry(replayed.id, false))
    .toMatchObject({ replay_of: id, state: 'done' })
  const { lines } = await source.compare(id, replayed.id, false)
  expect(lines.map(({ text }) => text)).toEqual(['1: one', '2: two'])
  expect(await source.exported(id, 'curl', true)).toContain('Bearer secret')
  const har = await source.har({ id }, false)
  expect(har).toMatchObject({ log: { entries: [{ request: { method: 'POST' } }] } })
  expect(await source.importHar(har)).toEqual({ imported: 1, skipped: 0 })
  const descriptors = Buffer.from(descriptorSet()).toString('base64')
  expect(await source.useDescriptors(descriptors)).toMatchObject({ message_types: 4 })
  expect(await source.har({ path: '/none' }, false)).toMatchObject({ log: { entries: [] } })
})

test('a pause and a cleared list are said at once, and what is wrong rejects', async () => {
  const { send, source, recorder } = recorded()
  expect(await source.pause(true)).toMatchObject({ paused: true })
  await send('/unseen', '')
  expect(recorder.skipped).toBe(1)
  await source.pause(false)
  await send('/seen', '')
  expect(await source.clear()).toMatchObject({ entries: 0, skipped: 0 })
  await expect(source.entry('none', false)).rejects.toThrow('there is no entry none')
  await expect(source.compare('none', 'none', false)).rejects.toThrow('there is no entry none')
  await expect(source.importHar({})).rejects.toThrow()
  await expect(source.useDescriptors('////')).rejects.toThrow('FileDescriptorSet')
})
