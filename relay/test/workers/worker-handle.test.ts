// Tests how the primary process treats a worker process that does not respond, and how it adds up the counts of others.

import type { ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { connect as connectTcp, createServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createPipe } from '../../src/core/bridge/pipe.ts'
import { Visitors } from '../../src/core/bridge/visitors.ts'
import { RestartBackoff } from '../../src/core/config/restart-backoff.ts'
import { createLog } from '../../src/core/log/log.ts'
import { RelayCounters } from '../../src/core/metrics/relay-counters.ts'
import type { PendingVisitor, SessionPeer } from '../../src/core/reverse/pending-visitor.ts'
import { ReadyQueue } from '../../src/core/reverse/ready-queue.ts'
import { readyQueueOf } from '../../src/core/reverse/ready-queues.ts'
import { LeaseTraffic } from '../../src/core/traffic/lease-traffic.ts'
import {
  FORWARDED_CONNECTIONS_MAX,
  Forwarder,
  receiveForwarded,
} from '../../src/features/workers/api-channel.ts'
import { WorkerCounts } from '../../src/features/workers/worker-counts.ts'
import { WorkerHandle } from '../../src/features/workers/worker-handle.ts'
import { newLease } from '../support/lease.ts'

const forever = new AbortController().signal

/** A process that takes messages, or leaves them where they are, and says nothing by itself. */
class FakeChild extends EventEmitter {
  readonly told: { kind: string; question?: number }[] = []
  readonly kill = vi.fn()
  takes = true

  send(message: never, _socket: unknown, _options: unknown, sent: () => void): void {
    this.told.push(message)
    if (this.takes) sent()
  }

  answer(): void {
    const { question } = this.told.at(-1)!
    this.emit('message', { kind: 'answer', question, yes: true })
  }
}

function linkTo(child: FakeChild): { link: WorkerHandle; onEnd: ReturnType<typeof vi.fn> } {
  const onEnd = vi.fn()
  return { link: new WorkerHandle({ onMessage: () => {}, onEnd }, child as unknown as ChildProcess), onEnd }
}

describe('a worker', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('that answers lives; one that is silent for 15 s is killed', () => {
    const child = new FakeChild()
    linkTo(child)
    for (let minute = 0; minute < 12; minute++) {
      vi.advanceTimersByTime(5_000)
      child.answer()
    }
    expect(child.kill).not.toHaveBeenCalled()
    vi.advanceTimersByTime(15_000)
    expect(child.kill).not.toHaveBeenCalled()
    vi.advanceTimersByTime(10_000)
    expect(child.kill).toHaveBeenCalledWith('SIGKILL')
  })

  test('that leaves 65,536 messages where they are is killed with one more', () => {
    const child = new FakeChild()
    const { link } = linkTo(child)
    child.takes = false
    for (let i = 0; i < 65_536; i++) link.send({ kind: 'recount', lease: 'lease' })
    expect(child.kill).not.toHaveBeenCalled()
    link.send({ kind: 'recount', lease: 'lease' })
    expect(child.kill).toHaveBeenCalledWith('SIGKILL')
  })

  test('that is told to end and does not is killed after 2 s more than its answers have', async () => {
    const child = new FakeChild()
    const onEnd = linkTo(child).link.end(true, 1_000)
    vi.advanceTimersByTime(2_999)
    expect(child.kill).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(child.kill).toHaveBeenCalledWith('SIGKILL')
    child.emit('exit', null, 'SIGKILL')
    await onEnd
  })

  test('that is no more says no, is waited for by nobody, and is not listened to', async () => {
    const child = new FakeChild()
    const { link, onEnd } = linkTo(child)
    const asked = link.ask((question) => ({ kind: 'ping', question }))
    child.emit('exit', 1, null)
    expect(await asked).toBe(false)
    expect(await link.ask((question) => ({ kind: 'ping', question }))).toBe(false)
    await link.settled()
    expect(onEnd).toHaveBeenCalledExactlyOnceWith('exit code 1')
    const socket = { destroy: vi.fn() }
    child.emit('message', { kind: 'visitor' }, socket)
    expect(socket.destroy).toHaveBeenCalled()
  })

  test('gets no visitor who has left: it is asked for its numbers instead', () => {
    const child = new FakeChild()
    const { link } = linkTo(child)
    const visitor = { destroyed: true } as Socket
    link.handOver({
      visitor,
      lease: newLease(),
      hello: undefined,
      arrivedAt: 0,
      sessionsLost: 0,
      network: undefined,
      isLowPriority: false,
      handedOverBy: undefined,
    })
    expect(child.told.map(({ kind }) => kind)).toEqual(['recount'])
  })
})

test('a worker is started again after 0.2 s, 0.4 s … 30 s, and after 0.2 s when it had lived for long', () => {
  const pause = new RestartBackoff()
  expect(Array.from({ length: 10 }, () => pause.after(100))).toEqual([
    200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000,
  ])
  expect([pause.after(31_000), pause.after(100)]).toEqual([200, 400])
})

describe('sessions of other processes', () => {
  const processIndex = (): SessionPeer & { came: PendingVisitor[] } => {
    const came: PendingVisitor[] = []
    const handOver = (pending: PendingVisitor): 'gone' => {
      came.push(pending)
      return 'gone'
    }
    return { came, handOver }
  }
  const session = (): Duplex => new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })

  test('this process’s own come first, then those of the process with the most', async () => {
    const queue = new ReadyQueue()
    const [few, many] = [processIndex(), processIndex()]
    queue.setPeerCount(few, 1)
    queue.setPeerCount(many, 3)
    const own = session()
    queue.offer(own)
    expect(queue.size).toBe(5)
    const claimed = []
    for (let i = 0; i < 5; i++) claimed.push(await queue.claim(forever))
    expect(claimed[0]).toBe(own)
    expect(claimed.filter((one) => one === many)).toHaveLength(3)
    expect(claimed.filter((one) => one === few)).toHaveLength(1)
    expect(queue.isEmptyFor({})).toBe(true)
  })

  test('are for those who wait, and what is left is counted', async () => {
    const queue = new ReadyQueue()
    const waiting = [queue.claim(forever), queue.claim(forever)]
    const worker = processIndex()
    queue.setPeerCount(worker, 3)
    expect(await Promise.all(waiting)).toEqual([worker, worker])
    expect(queue.size).toBe(1)
  })

  test('nobody waits where there is a waiting room elsewhere, and none is claimed for who is gone', async () => {
    const queue = new ReadyQueue()
    const first = processIndex()
    queue.delegateWaitingTo(first)
    expect(queue.isEmptyFor({})).toBe(false)
    expect(await queue.claim(forever)).toBe(first)
    expect(await queue.claim(AbortSignal.abort())).toBeUndefined()
    queue.close()
    expect(await queue.claim(forever)).toBeUndefined()
  })

  test('are for who lost a session, too, but never those of the process that handed the visitor over', () => {
    const queue = new ReadyQueue()
    const [first, second] = [processIndex(), processIndex()]
    queue.setPeerCount(first, 2)
    queue.setPeerCount(second, 1)
    const claim = (from: SessionPeer) => queue.claimAgain(forever, performance.now(), from)
    expect([claim(first), claim(first), claim(second)]).toEqual([second, undefined, first])
    const worker = new ReadyQueue()
    worker.delegateWaitingTo(first)
    expect(worker.claimAgain(forever, performance.now(), undefined)).toBe(first)
    expect(worker.claimAgain(forever, performance.now(), first)).toBeUndefined()
  })

  test('are forgotten with their process, and so are its visitors, also those of a lease that has ended', async () => {
    const [visitors, counters, worker, lease] = [
      new Visitors(createLog('silent')),
      new RelayCounters(),
      processIndex(),
      newLease(),
    ]
    const counts = new WorkerCounts(worker, { visitors, counters, traffic: new LeaseTraffic() })
    const told = (ready: number, count: number, hasEnded = false): void =>
      counts.update([{ lease: lease.id, ready, visitors: count, connection: 'none' }], () =>
        hasEnded ? undefined : lease,
      )
    told(2, 3)
    expect([readyQueueOf(lease).size, visitors.size, visitors.visitorsOf(lease)]).toEqual([2, 3, 3])
    told(0, 1, true)
    expect([readyQueueOf(lease).size, visitors.size]).toEqual([0, 1])
    counts.lost()
    expect([readyQueueOf(lease).size, visitors.size, visitors.visitorsOf(lease)]).toEqual([0, 0, 0])
    told(1, 1, true)
    expect(visitors.size).toBe(0)
  })
})

test('a worker has 4,096 connections open with the API; one more is refused', async () => {
  const server = createServer().listen(0)
  const { port } = server.address() as { port: number }
  const forwarder = new Forwarder(connectTcp(port), createPipe(undefined))
  const [socket] = (await once(server, 'connection')) as [Socket]
  const open: Duplex[] = []
  const whole = new Promise<void>((resolve) =>
    receiveForwarded(socket, (connection) => {
      open.push(connection)
      if (open.length === FORWARDED_CONNECTIONS_MAX) resolve()
    }),
  )
  const forward = (): Promise<void> => forwarder.forward(new Duplex({ read() {} }) as Socket, '192.0.2.1')
  const forwarded = Array.from({ length: FORWARDED_CONNECTIONS_MAX }, forward)
  await whole
  expect(new Set(open.map((connection) => (connection as Socket).remoteAddress))).toEqual(
    new Set(['192.0.2.1']),
  )
  await expect(forward()).rejects.toMatchObject({ code: 'too_many_streams' })
  socket.destroy()
  server.close()
  await Promise.all(forwarded)
})
