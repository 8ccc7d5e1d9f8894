// Tests what the relay keeps of a site that answers at a dedicated port before it was asked.

import { Duplex } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { screenFirstBytes } from '../../src/core/bridge/port-screen.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import type { VisitorConnection } from '../../src/core/reverse/pending-visitor.ts'

const CHUNK = Buffer.from('HTTP/1.1 200 OK\r\n'.padEnd(65_536, 'x'))
const TURNS = 50

test('an unasked answer stays with the site: the relay reads its beginning alone', async () => {
  const sent: string[] = []
  const sink = {
    write: (bytes: Buffer, _: string, done: () => void) => {
      sent.push(bytes.toString())
      done()
    },
  }
  const visitor = new Duplex({ read: () => {}, ...sink }) as VisitorConnection
  let chunks = 0
  const session = new Duplex({
    read() {
      chunks += 1
      this.push(CHUNK)
    },
    ...sink,
  })
  const lease = {
    canonicalHostname: 'own-0x.relay.example',
    hostnames: ['own.relay.example'],
  } as unknown as Lease
  screenFirstBytes(visitor, session, lease, () => {})
  for (let at = 0; at < TURNS; at += 1) await turn()
  expect(chunks).toBeLessThan(TURNS / 5)
  expect(sent).toEqual([])
})
