// How many visitors a carrier takes at once, where that is its own choice.

import { expect, it, vi } from 'vitest'
import { ReadyStreams } from '../../src/carrier/ready-streams.ts'

it('no stream is offered while as many visitors are served as were allowed, and again when one has left', async () => {
  const MAX = 5
  const served: (() => void)[] = []
  // each stream is claimed the moment it is ready
  const activation = { binding: undefined, stream: undefined as never }
  const open = vi.fn(async () => ({ retire: () => {}, activation: async () => activation }))
  let here = 0
  const serve = async (): Promise<void> => {
    here += 1
    await new Promise<void>((resolve) => served.push(resolve))
    here -= 1
  }
  const hasRoomFor = (visitors: number): boolean => here + visitors <= MAX
  const streams = new ReadyStreams({ open, hasRoomFor, serve, ready: () => {}, rejected: () => {} })
  streams.fill()
  await expect.poll(() => served.length).toBe(MAX)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect([open.mock.calls.length, streams.serving, streams.ready]).toEqual([MAX, MAX, 0])
  served[0]!()
  await expect.poll(() => served.length).toBe(MAX + 1)
  streams.stop()
})
