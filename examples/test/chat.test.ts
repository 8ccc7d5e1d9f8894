// The chat's limits that no visitor reaches in a moment: who does not read is dropped, and silence is written to.
import type { FetchInfo } from '@svc/sdk-browser'
import { afterEach, expect, test, vi } from 'vitest'
import { EventsEndpoint } from '../chat/events.ts'
import { KEEPALIVE_MS, PEOPLE_MAX, RATE_MAX_MESSAGES, WAITING_MAX_BYTES } from '../chat/limits.ts'
import { Room, type RoomEvent } from '../chat/room.ts'
import { openSocket } from '../chat/socket.ts'

const decoder = new TextDecoder()

afterEach(() => void vi.useRealTimers())

function follow(room: Room): { names: () => string[] } {
  let names: string[] = []
  room.join('Host', (event: RoomEvent) => {
    if (event.type === 'people') names = event.names
  })
  return { names: () => names }
}

test('a reader of events who does not keep up is dropped', async () => {
  const room = new Room()
  const { names } = follow(room)
  const { body } = new EventsEndpoint(room).open(new Request('https://chat.example/events?name=Slow'))
  expect(names()).toEqual(['Host', 'Slow'])
  // 1500 bytes each, 720 kB in all
  for (let i = 0; i < PEOPLE_MAX - 2; i++) {
    const member = room.join('Ann', () => {})
    for (let j = 0; j < RATE_MAX_MESSAGES; j++) member?.say('€'.repeat(500))
    member?.leave()
  }
  expect(names()).toEqual(['Host'])
  let bytes = 0
  for await (const chunk of body!) bytes += chunk.length
  expect(bytes).toBeGreaterThan(WAITING_MAX_BYTES - 4096)
  expect(bytes).toBeLessThan(WAITING_MAX_BYTES + 4096)
})

test('a WebSocket on which too much waits is closed', () => {
  const room = new Room()
  const { names } = follow(room)
  const sent: string[] = []
  const closed: unknown[] = []
  const socket = {
    bufferedAmount: 0,
    send: (data: string) => sent.push(data),
    close: (...args: unknown[]) => closed.push(args),
    onopen: () => {},
    onclose: () => {},
  }
  const upgrade = (() => ({ socket, response: new Response() })) as unknown as FetchInfo['upgrade']
  const info: FetchInfo = {
    canonicalUrl: 'https://chat.example',
    waitUntil: () => {},
    passThroughOnException: () => {},
    props: {},
    upgrade,
  }
  openSocket(room, new Request('https://chat.example/socket?name=Slow'), info)
  socket.onopen()
  expect(sent).toHaveLength(2)
  socket.bufferedAmount = WAITING_MAX_BYTES
  room.join('Ann', () => {})?.say('hello')
  expect(sent).toHaveLength(2)
  expect(closed[0]).toEqual([1013, 'You do not keep up'])
  socket.onclose()
  expect(names()).toEqual(['Host', 'Ann'])
})

test('a silent stream of events is written to, until its reader is gone', async () => {
  vi.useFakeTimers()
  const room = new Room()
  const { names } = follow(room)
  const { body } = new EventsEndpoint(room).open(new Request('https://chat.example/events'))
  const reader = body!.getReader()
  const events: string[] = []
  for (let i = 0; i < 3; i++) events.push(decoder.decode((await reader.read()).value))
  expect(events.at(-1)).toMatch(/^event: key\n/)
  vi.advanceTimersByTime(KEEPALIVE_MS)
  expect(decoder.decode((await reader.read()).value)).toBe(':\n\n')
  await reader.cancel()
  expect(names()).toEqual(['Host'])
  expect(vi.getTimerCount()).toBe(0)
})

test('who finds the room full leaves no timer behind', () => {
  vi.useFakeTimers()
  const room = new Room()
  for (let i = 0; i < PEOPLE_MAX; i++) room.join('Ann', () => {})
  const { status } = new EventsEndpoint(room).open(new Request('https://chat.example/events'))
  expect(status).toBe(503)
  expect(vi.getTimerCount()).toBe(0)
})
