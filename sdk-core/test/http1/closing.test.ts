// A site that closes: what is on is finished, nothing follows, and who only waits is let go.

import { expect, test } from 'vitest'
import { Visitor } from './visitor.ts'

const GET = 'GET / HTTP/1.1\r\nHost: site.example\r\n\r\n'

function closingVisitor(fetch: () => Response | Promise<Response>) {
  const controller = new AbortController()
  return { visitor: new Visitor(fetch, { closing: controller.signal }), close: () => controller.abort() }
}

test('a connection that waits for its next request is ended', async () => {
  const { visitor, close } = closingVisitor(() => new Response('one'))
  await visitor.send(GET)
  expect(await visitor.receive('one')).not.toContain('connection:')
  close()
  expect(await visitor.rest()).toBe('')
  await visitor.end()
  await visitor.served
})

test('a connection that never sent a request is ended', async () => {
  const { visitor, close } = closingVisitor(() => new Response('one'))
  close()
  expect(await visitor.rest()).toBe('')
})

test('a response that is on is sent whole, says so, and is the last', async () => {
  const response = Promise.withResolvers<Response>()
  const { visitor, close } = closingVisitor(() => response.promise)
  await visitor.send(GET, GET)
  close()
  response.resolve(new Response('whole'))
  expect(await visitor.rest()).toMatch(/connection: close\r\n\r\nwhole$/)
  expect(visitor.requests).toHaveLength(1)
})
