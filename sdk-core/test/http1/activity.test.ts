// What a connection says of itself: whether anything is under way on it.

import { expect, test } from 'vitest'
import type { ConnectionActivity } from '../../src/exchange/http-options.ts'
import { Visitor } from './visitor.ts'

const GET = 'GET / HTTP/1.1\r\nHost: site.example\r\n\r\n'

function observed(fetch: () => Response | Promise<Response>) {
  const seen: ConnectionActivity[] = []
  const visitor = new Visitor(fetch, { activity: (activity) => seen.push(activity) })
  return { visitor, seen }
}

test('idle before the first request and between two, busy from a whole head to the end of the response', async () => {
  const answer = Promise.withResolvers<Response>()
  const { visitor, seen } = observed(() => answer.promise)
  expect(seen).toEqual(['idle'])
  await visitor.send('GET / HTTP/1.1\r\nHost:')
  await expect.poll(() => seen.at(-1)).toBe('beginning')
  await visitor.send(' site.example\r\n\r\n')
  await expect.poll(() => seen.at(-1)).toBe('busy')
  answer.resolve(new Response('one'))
  await visitor.receive('one')
  const whole = ['idle', 'beginning', 'busy', 'idle']
  await expect.poll(() => seen).toEqual(whole)
  await visitor.end()
  await visitor.served
  expect(seen).toEqual(whole)
})

test('requests that wait behind another leave no idle moment between', async () => {
  const { visitor, seen } = observed(() => new Response('one'))
  await visitor.send(GET + GET + GET)
  await visitor.receive('one', 3)
  await expect.poll(() => seen.filter((activity) => activity === 'busy')).toHaveLength(3)
  expect(seen.indexOf('idle', 1)).toBe(seen.lastIndexOf('busy') + 1)
})

test('a response that is still being sent is busy', async () => {
  const body = new TransformStream<Uint8Array>()
  const { visitor, seen } = observed(() => new Response(body.readable))
  await visitor.send(GET)
  await visitor.receive('\r\n\r\n')
  expect(seen.at(-1)).toBe('busy')
  body.writable.close()
  await expect.poll(() => seen.at(-1)).toBe('idle')
})
