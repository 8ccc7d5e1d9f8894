// A rate so low that a wait is longer than a timer can be: the timer of Node fires at once beyond 24.8 days.

import { setTimeout as sleep } from 'node:timers/promises'
import { TIMER_MAX_MS } from '@svc/protocol/timers'
import { describe, expect, test } from 'vitest'
import { createPipe, type Pipe } from '../../src/core/bridge/pipe.ts'
import { LIMITED_READ_MAX_BYTES, SharedReadBuffer } from '../../src/core/node-internals/shared-read-buffer.ts'
import { Bandwidth } from '../../src/core/rate-limit/bandwidth.ts'
import { KINDS } from '../support/bridges.ts'

/** At one byte a second, 35 days. */
const SPENT = 3_000_000
/** What Node reads of a plain stream at once. */
const READ_MAX_BYTES: number = 64 * 1024
const PIPES: [string, Pipe][] = [
  ['as Node reads them', createPipe(undefined)],
  ['into the shared buffer', createPipe(await SharedReadBuffer.find())],
]

describe.each(KINDS)('a bridge between %s', (_kind, openVisitor, openSession) => {
  test.each(PIPES)('%s keeps to a byte a second, however much is owed', async (_how, pipe) => {
    const [visitor, session] = [await openVisitor(), await openSession()]
    const bandwidth = new Bandwidth(() => 1)
    expect(bandwidth.spend(SPENT)).toBeGreaterThan(TIMER_MAX_MS)
    const over = pipe(visitor.near, session.near, bandwidth)
    let received = 0
    session.far.on('data', (bytes: Buffer) => {
      received += bytes.length
    })
    for (let i = 0; i < 16; i++) visitor.far.write(Buffer.alloc(READ_MAX_BYTES))
    await sleep(300)
    expect(received).toBeLessThanOrEqual(Math.max(READ_MAX_BYTES, LIMITED_READ_MAX_BYTES))
    // Who has to wait is not read, so that only this side can end it.
    for (const { near } of [visitor, session]) near.destroy()
    await over
  })
})
