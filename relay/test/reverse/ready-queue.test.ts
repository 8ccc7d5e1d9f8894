// Tests the states of reverse sessions (ready, claimed, closed) and the bounds of both queues.

import { Duplex } from 'node:stream'
import { setImmediate as immediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ReadyQueue } from '../../src/core/reverse/ready-queue.ts'

const forever = new AbortController().signal

beforeEach(
  () => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }),
)
afterEach(() => void vi.useRealTimers())

/** Lets the streams pass on what they have. */
async function settle() {
  for (let i = 0; i < 5; i++) await immediate()
}

/** A session, what the relay wrote on it, and the SDK's end of it: `push` speaks, `push(null)` ends. */
function newSession() {
  const chunks: Buffer[] = []
  const session = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  session.on('error', () => {})
  return { session, written: () => Buffer.concat(chunks.splice(0)) }
}

describe('ReadyQueue', () => {
  test('the youngest session is claimed first (protocol §9.2.1)', async () => {
    const queue = new ReadyQueue()
    const [a, b] = [newSession(), newSession()]
    expect(queue.offer(a.session) && queue.offer(b.session)).toBe(true)
    expect(await queue.claim(forever)).toBe(b.session)
    expect(await queue.claim(forever)).toBe(a.session)
    expect(queue.size).toBe(0)
  })

  test('8 idle sessions; a ninth is refused', () => {
    const queue = new ReadyQueue()
    for (let i = 0; i < 8; i++) expect(queue.offer(newSession().session)).toBe(true)
    expect(queue.hasRoom).toBe(false)
    expect(queue.offer(newSession().session)).toBe(false)
  })

  test('an idle session gets 0x00 every 15 s, a claimed one no more (protocol §7.5.2)', async () => {
    const queue = new ReadyQueue()
    const { session, written } = newSession()
    queue.offer(session)
    await vi.advanceTimersByTimeAsync(14_999)
    expect(written()).toHaveLength(0)
    await vi.advanceTimersByTimeAsync(15_001)
    await settle()
    expect(written()).toEqual(Buffer.of(0, 0))
    await queue.claim(forever)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(written()).toHaveLength(0)
  })

  test('of a thousand that are due together 128 get theirs in a turn, and none that was claimed', async () => {
    const queues = Array.from({ length: 1000 }, () => new ReadyQueue())
    const sessions = queues.map((queue) => {
      const made = newSession()
      queue.offer(made.session)
      return made
    })
    const written = () => sessions.map((session) => session.written().length).reduce((a, b) => a + b)
    vi.advanceTimersByTime(15_000)
    await queues[999]?.claim(forever)
    expect(written()).toBe(0)
    const turns: number[] = []
    for (let i = 0; i < 9; i++) {
      await immediate()
      turns.push(written())
    }
    expect(turns).toEqual([128, 128, 128, 128, 128, 128, 128, 999 - 7 * 128, 0])
    for (const queue of queues) queue.close()
  })

  test('a session that does not take a marker within 5 s is closed (protocol §7.5.3)', async () => {
    const queue = new ReadyQueue()
    const stuck = new Duplex({ read() {}, write() {} })
    queue.offer(stuck)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(queue.size).toBe(0)
    expect(stuck.destroyed).toBe(true)
  })

  test.each(['speaks', 'ends', 'breaks'])(
    'an idle session that %s before its marker is dropped',
    async (how) => {
      const queue = new ReadyQueue()
      const { session } = newSession()
      queue.offer(session)
      await settle()
      if (how === 'speaks') session.push('x')
      else if (how === 'ends') session.push(null)
      else session.destroy(new Error('reset'))
      await settle()
      expect(queue.size).toBe(0)
      expect(session.destroyed).toBe(true)
    },
  )

  test('a visitor waits for the next session, at most 10 s (protocol §9.2.1)', async () => {
    const queue = new ReadyQueue()
    const early = queue.claim(forever)
    const { session } = newSession()
    await vi.advanceTimersByTimeAsync(9_999)
    queue.offer(session)
    expect(await early).toBe(session)
    const late = queue.claim(forever)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await late).toBeUndefined()
    queue.offer(newSession().session)
    expect(queue.size).toBe(1)
  })

  test('a visitor who waited before waits for what is left of the time', async () => {
    const queue = new ReadyQueue()
    const claim = queue.claim(forever, 1_000)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await claim).toBeUndefined()
  })

  test('a visitor who leaves no longer waits', async () => {
    const queue = new ReadyQueue()
    const gone = new AbortController()
    const claim = queue.claim(gone.signal)
    gone.abort()
    expect(await claim).toBeUndefined()
    expect(await queue.claim(AbortSignal.abort())).toBeUndefined()
  })

  test('1024 visitors may wait; one more is turned away at once (protocol §9.2.4)', async () => {
    const queue = new ReadyQueue()
    const waiting = Array.from({ length: 1024 }, () => queue.claim(forever))
    expect(await queue.claim(forever)).toBeUndefined()
    queue.close()
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([undefined]))
  })

  test('a visitor who lost a session gets one that was ready before, the youngest, and does not wait', async () => {
    const queue = new ReadyQueue()
    const [old, older] = [newSession(), newSession()]
    queue.offer(older.session)
    queue.offer(old.session)
    await immediate()
    const arrivedAt = performance.now()
    await immediate()
    queue.offer(newSession().session)
    expect(queue.claimAgain(AbortSignal.abort(), arrivedAt, undefined)).toBeUndefined()
    expect(queue.size).toBe(3)
    const claimed = [1, 2, 3].map(() => queue.claimAgain(forever, arrivedAt, undefined))
    expect(claimed).toEqual([old.session, older.session, undefined])
    expect(queue.size).toBe(1)
  })

  test('a visitor who has left takes none', async () => {
    const queue = new ReadyQueue()
    queue.offer(newSession().session)
    expect(await queue.claim(AbortSignal.abort())).toBeUndefined()
    expect(queue.size).toBe(1)
  })

  test('60 sessions may break before they answer, then one more each half second is taken (protocol §7.5.8)', async () => {
    vi.useFakeTimers()
    const queue = new ReadyQueue()
    for (let i = 0; i < 60; i++) queue.sessionLost()
    const { session } = newSession()
    expect(queue.offer(session)).toBe(false)
    expect(queue.roomInMs).toBe(500)
    void queue.claim(forever)
    expect(queue.offer(session)).toBe(false)
    vi.advanceTimersByTime(500)
    expect(queue.offer(session)).toBe(true)
  })

  test('closing drops the idle sessions and takes no more', () => {
    const queue = new ReadyQueue()
    const { session } = newSession()
    queue.offer(session)
    queue.close()
    expect(session.destroyed).toBe(true)
    expect(queue.offer(newSession().session)).toBe(false)
  })
})
