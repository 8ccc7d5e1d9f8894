// Visitors of UDP services in the status of the agent.

import { expect, test } from 'vitest'
import { StatusStore } from '../../src/cli/report/status-store.ts'

test('has the last flows, oldest first, without the requests between them', () => {
  const store = new StatusStore()
  const first = { tunnel: 'game', address: '192.0.2.1', port: 4711, local_port: 50_001 }
  const second = { tunnel: 'game', address: undefined, port: undefined, local_port: 50_002 }
  store.flowOpened(first)
  store.requested({ tunnel: 'web', method: 'GET', path: '/', status: 200, ms: 1 })
  store.flowOpened(second)
  expect(store.flows).toEqual([first, second])
})

test('forgets the oldest', () => {
  const store = new StatusStore()
  for (let port = 0; port < 1_000; port++) store.flowOpened({ tunnel: 'game', local_port: port })
  expect(store.flows).toHaveLength(100)
  expect(store.flows.at(-1)).toEqual({ tunnel: 'game', local_port: 999 })
})
