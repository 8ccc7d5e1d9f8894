// A socket that stops reading at once: what it had read is taken, and what comes later stays in the kernel.

import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { stopReading } from '../../src/core/node-internals/stop-reading.ts'
import { tcp } from '../support/bridges.ts'

test('takes what was read, and reads nothing more', async () => {
  const { near, far } = await tcp()
  const socket = near as Socket
  far.write('before')
  await expect.poll(() => socket.readableLength).toBe(6)
  expect(String(stopReading(socket))).toBe('before')
  far.write('after')
  await setTimeout(100)
  expect([socket.bytesRead, socket.readableLength]).toEqual([6, 0])
  near.destroy()
  far.destroy()
})
