// What a relay sends on the first stream: heartbeats, lines about flows, and what a false relay makes of them.

import { FLOW_LINE_MAX_BYTES } from '@svc/protocol'
import { expect, it, vi } from 'vitest'
import { StreamReader } from '../../src/datagram/stream-reader.ts'

const LINE = '{"flow":7,"address":"192.0.2.1","port":4711}\n'
const REMOTE = { address: '192.0.2.1', port: 4711, reportedBy: 'relay' }

function reader() {
  const flow = vi.fn()
  let heartbeats = 0
  const heard = (bytes: number): void => {
    heartbeats += bytes
  }
  const one = new StreamReader({ heard, flow })
  return { push: (bytes: Buffer) => one.push(bytes), flow, heartbeats: () => heartbeats }
}

it('protocol §12.2.8: tells lines from heartbeats, however they are cut', () => {
  const bytes = Buffer.concat([Buffer.alloc(5), Buffer.from(LINE + LINE), Buffer.alloc(3), Buffer.from(LINE)])
  for (let size = 1; size <= bytes.length; size += 1) {
    const { push, flow, heartbeats } = reader()
    for (let at = 0; at < bytes.length; at += size) expect(push(bytes.subarray(at, at + size))).toBe(true)
    expect(flow.mock.calls).toEqual([7, 7, 7].map((id) => [id, REMOTE]))
    expect(heartbeats()).toBe(8)
  }
})

it.each([
  '{}',
  '{"flow":0,"address":"192.0.2.1","port":1}',
  '{"flow":4294967296,"address":"192.0.2.1","port":1}',
  '{"flow":1.5,"address":"192.0.2.1","port":1}',
  '{"flow":"1","address":"192.0.2.1","port":1}',
  '{"flow":1,"address":"somewhere","port":1}',
  '{"flow":1,"address":["192.0.2.1"],"port":1}',
  '{"flow":1,"address":"192.0.2.1","port":65536}',
  '{"flow":1,"address":"192.0.2.1","port":-1}',
  '{"flow":1,"address":"192.0.2.1"}',
  '{"flow":1,',
])('passes over %s', (line) => {
  const { push, flow } = reader()
  expect(push(Buffer.from(`${line}\n${LINE}`))).toBe(true)
  expect(flow.mock.calls).toEqual([[7, REMOTE]])
})

it('keeps no line that does not end', () => {
  const whole = reader()
  expect(whole.push(Buffer.from(`{${' '.repeat(FLOW_LINE_MAX_BYTES)}\n`))).toBe(false)
  const { push } = reader()
  for (let bytes = 1; bytes < FLOW_LINE_MAX_BYTES; bytes += 1) expect(push(Buffer.from('{'))).toBe(true)
  expect(push(Buffer.from('{'))).toBe(false)
})
