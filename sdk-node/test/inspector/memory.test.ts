// Ten thousand requests: the memory stays what its limits say, and what was dropped is counted.

import { DIRECT, type DirectlyHandled } from '@svc/sdk-core'
import { Inspector } from '@svc/sdk-core/inspector'
import { expect, it } from 'vitest'
import { collectedMemory } from '../../../tools/collected-memory.ts'
import { atDepth } from '../../../tools/test-depth.ts'

const REQUESTS: number = atDepth(10_000, 3_000)
const BODY_BYTES = 8 * 1024
const LIMITS = { limit: 500, maxBodyBytes: 4 * 1024, maxBytes: 4 * 1024 * 1024 }
/** More than the heap may differ, in bytes, for what else the process does. */
const TOLERANCE_BYTES = 8 * 1024 * 1024

function target(): DirectlyHandled {
  const handler: DirectlyHandled = () => new Response()
  handler[DIRECT] = ({ body }) => ({
    respond: async () => {
      while (body && (await body.next()));
      const content = { pieces: [new Uint8Array(BODY_BYTES)], size: BODY_BYTES, done: true }
      const head = { status: 200, statusText: '', fields: [['x-a', 'b'] as const], length: BODY_BYTES }
      return { ...head, ready: () => content, next: async () => content, cancel: () => {} }
    },
    cancel: () => {},
  })
  return handler
}

async function visit(handler: DirectlyHandled, number: number): Promise<void> {
  const pieces = [new Uint8Array(BODY_BYTES)].values()
  const body = { next: async () => pieces.next().value }
  const url = new URL(`https://site.example/${number}`)
  const answer = await handler[DIRECT]!({
    method: 'POST',
    url,
    fields: [['x-number', `${number}`]],
    body,
  })!.respond()
  answer.ready()
}

it('memory is flat', async () => {
  const inspector = new Inspector(LIMITS)
  const handler = inspector.wrap(target())
  const used = (): number => {
    const { heap, buffers } = collectedMemory()
    return heap + buffers
  }
  let full = 0
  for (let number = 1; number <= REQUESTS; number += 1) {
    await visit(handler, number)
    if (number === 1_000) full = used()
    expect(inspector.bytes).toBeLessThanOrEqual(LIMITS.maxBytes)
  }
  expect(used() - full).toBeLessThan(TOLERANCE_BYTES)
  const kept = inspector.entries.length
  expect(kept).toBeLessThanOrEqual(LIMITS.limit)
  // Each has two contents of 4 KiB, and so the bytes are the tighter limit.
  expect(inspector.bytes).toBeGreaterThan(LIMITS.maxBytes - 16 * 1024)
  expect(inspector.dropped.entries).toBe(REQUESTS - kept)
  expect(new URL(inspector.entries[0]!.url).pathname).toBe(`/${REQUESTS}`)
})

it('a busy tunnel does not push out the requests of a quiet one', async () => {
  const inspector = new Inspector(LIMITS)
  const quiet = inspector.wrap(target(), { tunnel: 'quiet' })
  const busy = inspector.wrap(target(), { tunnel: 'busy' })
  await visit(quiet, 1)
  for (let number = 0; number < 2_000; number += 1) await visit(busy, number)
  expect(inspector.entries.at(-1)).toMatchObject({ tunnel: 'quiet', url: 'https://site.example/1' })
})

it('the messages of one stream are bounded, too', async () => {
  const inspector = new Inspector(LIMITS)
  const handler: DirectlyHandled = () => new Response()
  const event = new TextEncoder().encode(`data: ${'x'.repeat(1000)}\n\n`)
  let left = 20_000
  handler[DIRECT] = () => ({
    respond: async () => {
      const next = async () => ({ pieces: [event], size: event.length, done: --left === 0 })
      const fields = [['content-type', 'text/event-stream'] as const]
      const ready = () => ({ pieces: [], size: 0, done: false })
      return { status: 200, statusText: '', fields, length: undefined, ready, next, cancel: () => {} }
    },
    cancel: () => {},
  })
  const url = new URL('https://site.example/events')
  const answer = await inspector.wrap(handler)[DIRECT]!({
    method: 'GET',
    url,
    fields: [],
    body: undefined,
  })!.respond()
  while (!(await answer.next()).done);
  const [entry] = inspector.entries
  expect(entry!.messages).toHaveLength(500)
  expect(entry!.droppedMessages).toBe(19_500)
  expect(inspector.bytes).toBeLessThan(LIMITS.maxBytes)
})
