// What the log has of an error: not what came from the peer, which Node's HTTP parser keeps in its errors.

import { once } from 'node:events'
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { createLog } from '../../src/core/log/log.ts'

test('an error of the HTTP parser is logged without the bytes that it met', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.end('HTTP/1.1 200 OK\r\nX-Secret: from a visitor\r\nno field\r\n\r\n')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const [error] = await once(get({ host: '127.0.0.1', port }), 'error')
  server.close()
  expect(error.rawPacket.toString()).toContain('from a visitor')
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  log.warn({ err: error }, 'an error')
  log.warn({ err: new AggregateError([error], 'several', { cause: error }) }, 'errors')
  const [one, several] = lines.map((line) => JSON.parse(line).err)
  expect(Object.keys(one).toSorted()).toEqual(['code', 'message', 'stack', 'type'])
  expect(one).toMatchObject({ type: 'Error', code: 'HPE_INVALID_HEADER_TOKEN', message: error.message })
  expect(several.aggregateErrors).toEqual([one])
  for (const line of lines) expect(line).not.toMatch(/rawPacket|Buffer/)
})
