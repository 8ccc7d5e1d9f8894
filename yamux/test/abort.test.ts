// AbortSignal on open, read and write; and the backlog that open waits for.

import { describe, expect, test } from 'vitest'
import { hex, scripted, turn } from './support/scripted.ts'

const ACK_1 = '00 01 0002 00000001 00000000'

describe('open', () => {
  test('waits for an ACK when the backlog is full, first come, first served', async () => {
    const { feed, session } = scripted({ role: 'client', acceptBacklog: 2 })
    await session.open()
    await session.open()
    const order: number[] = []
    void session.open().then((stream) => order.push(stream.id))
    void session.open().then((stream) => order.push(stream.id))
    await turn()
    expect(order).toEqual([])
    await feed(ACK_1, ACK_1)
    expect(order).toEqual([5])
    await feed('00 01 0008 00000003 00000000')
    expect(order).toEqual([5, 7])
  })

  test('does not wait for one that was aborted', async () => {
    const { session } = scripted({ role: 'client', acceptBacklog: 1 })
    const first = await session.open()
    const second = session.open()
    first.abort()
    expect((await second).id).toBe(3)
  })

  test('the signal ends the wait, and the place in the queue', async () => {
    const { feed, session } = scripted({ role: 'client', acceptBacklog: 1 })
    await session.open()
    const abort = new AbortController()
    const aborted = expect(session.open({ signal: abort.signal })).rejects.toBe('enough')
    const next = session.open()
    abort.abort('enough')
    await aborted
    await feed(ACK_1)
    expect((await next).id).toBe(3)
  })

  test('an aborted signal opens nothing and keeps no place', async () => {
    const { sent, session } = scripted({ role: 'client', acceptBacklog: 1 })
    await expect(session.open({ signal: AbortSignal.abort('no') })).rejects.toBe('no')
    expect(await sent()).toEqual([])
    expect((await session.open()).id).toBe(1)
  })

  test('aborted in the moment it is let in, it gives the place on', async () => {
    const { feed, session } = scripted({ role: 'client', acceptBacklog: 1 })
    await session.open()
    const abort = new AbortController()
    const aborted = expect(session.open({ signal: abort.signal })).rejects.toBe('late')
    const next = session.open()
    await turn()
    const fed = feed(ACK_1)
    abort.abort('late')
    await Promise.all([fed, aborted])
    expect((await next).id).toBe(3)
  })

  test.each([
    [
      'a lost transport',
      'transport_closed',
      (peer: ReturnType<typeof scripted>) => peer.session.transportClosed(),
    ],
    ['the end of the session', 'session_closed', (peer: ReturnType<typeof scripted>) => peer.session.close()],
    [
      'GoAway',
      'peer_going_away',
      (peer: ReturnType<typeof scripted>) => peer.feed('00 03 0000 00000000 00000000'),
    ],
  ])('%s ends the wait', async (_what, code, end) => {
    const peer = scripted({ role: 'client', acceptBacklog: 1 })
    await peer.session.open()
    const waiting = expect(peer.session.open()).rejects.toMatchObject({ code })
    await turn()
    await end(peer)
    await waiting
  })
})

describe('read', () => {
  test('the signal ends the wait and loses nothing', async () => {
    const { feed, streams } = scripted()
    await feed('00 01 0001 00000001 00000000')
    const abort = new AbortController()
    const reading = expect(streams[0]!.read({ signal: abort.signal })).rejects.toBe('enough')
    abort.abort('enough')
    await reading
    await expect(streams[0]!.read({ signal: abort.signal })).rejects.toBe('enough')
    await feed('00 00 0000 00000001 00000001 61')
    expect(await streams[0]!.read()).toEqual(hex('61'))
    expect(streams[0]!.error).toBeUndefined()
  })

  test('a signal that comes after the bytes changes nothing', async () => {
    const { feed, streams } = scripted()
    await feed('00 01 0001 00000001 00000000')
    const abort = new AbortController()
    const reading = streams[0]!.read({ signal: abort.signal })
    await feed('00 00 0000 00000001 00000001 61')
    abort.abort()
    expect(await reading).toEqual(hex('61'))
  })
})
