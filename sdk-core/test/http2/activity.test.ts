// What a connection says of itself: whether anything is under way on it.

import { expect, test } from 'vitest'
import type { ConnectionActivity } from '../../src/exchange/http-options.ts'
import { settle, Visitor } from './visitor.ts'
import { frame, get, HEADERS, PING, PREFACE, settings } from './wire.ts'

const distinct = (seen: ConnectionActivity[]): ConnectionActivity[] =>
  seen.filter((activity, at) => activity !== seen[at - 1])

test('beginning until the preface is there, idle without streams, busy with one', async () => {
  const seen: ConnectionActivity[] = []
  const answer = Promise.withResolvers<Response>()
  const visitor = new Visitor(() => answer.promise, { activity: (activity) => seen.push(activity) })
  expect(distinct(seen)).toEqual(['beginning'])
  await visitor.send(PREFACE, settings())
  await settle()
  expect(distinct(seen)).toEqual(['beginning', 'idle'])
  await visitor.send(get(1))
  await settle()
  expect(distinct(seen)).toEqual(['beginning', 'idle', 'busy'])
  answer.resolve(new Response('ok'))
  await visitor.response(1)
  expect(distinct(seen)).toEqual(['beginning', 'idle', 'busy', 'idle'])
})

test('busy until the last of several streams is over', async () => {
  const seen: ConnectionActivity[] = []
  const answers = [Promise.withResolvers<Response>(), Promise.withResolvers<Response>()]
  let asked = 0
  const visitor = await Visitor.open(() => answers[asked++]!.promise, {
    activity: (activity) => seen.push(activity),
  })
  await visitor.send(get(1), get(3))
  await settle()
  answers[0]!.resolve(new Response('ok'))
  await visitor.response(1)
  expect(seen.at(-1)).toBe('busy')
  answers[1]!.resolve(new Response('ok'))
  await visitor.response(3)
  expect(seen.at(-1)).toBe('idle')
})

test('a PING leaves a connection idle; a header block that has begun does not', async () => {
  const seen: ConnectionActivity[] = []
  const visitor = await Visitor.open(undefined, { activity: (activity) => seen.push(activity) })
  await visitor.send(frame(PING, 0, 0, Buffer.alloc(8)))
  await settle()
  expect(seen.at(-1)).toBe('idle')
  await visitor.send(frame(HEADERS, 0, 1, Buffer.alloc(0)))
  await settle()
  expect(seen.at(-1)).toBe('beginning')
})
