// How many visitors a carrier takes at once, where that is its own choice, and when it replaces streams that ended.

import { expect, it, vi } from 'vitest'
import { READY_STREAMS_MIN, REPLACEMENT_PAUSE_MS, ReadyStreams } from '../../src/carrier/ready-streams.ts'

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

it.each([
  [0, REPLACEMENT_PAUSE_MS / 2],
  [1, REPLACEMENT_PAUSE_MS],
])(
  'streams that ended with a machine of the relay are replaced after a pause: with random %f it is %i ms',
  async (random, ms) => {
    vi.useFakeTimers()
    vi.spyOn(Math, 'random').mockReturnValue(random)
    const ends: (() => void)[] = []
    const activation = () => new Promise<undefined>((resolve) => ends.push(() => resolve(undefined)))
    const open = vi.fn(async () => ({ retire: () => {}, activation }))
    const streams = new ReadyStreams({
      open,
      hasRoomFor: () => true,
      serve: async () => {},
      ready: () => {},
      rejected: () => {},
    })
    streams.fill()
    await vi.advanceTimersByTimeAsync(0)
    for (const end of ends) end()
    await vi.advanceTimersByTimeAsync(ms - 1)
    expect(open).toHaveBeenCalledTimes(READY_STREAMS_MIN)
    await vi.advanceTimersByTimeAsync(1)
    expect(open).toHaveBeenCalledTimes(2 * READY_STREAMS_MIN)
    streams.stop()
    vi.restoreAllMocks()
    vi.useRealTimers()
  },
)
