// Away pages at a relay of several machines: also at one that starts when the site has left.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ClusterRelay,
  type ClusterRelays,
  startClusterRelays,
  whyNoRedis,
} from '../support/cluster-relays.ts'
import { newAccount, ROOT_HOST, readAll, type TestClient } from '../support/relay.ts'

const AWAY = /^HTTP\/1\.1 503 /

/** @returns what the hostname answers, or the code of the error of the connection */
async function visit(relay: TestClient, name: string): Promise<string> {
  const socket = relay.tls(`${name}.${ROOT_HOST}`)
  socket.once('secureConnect', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  return await readAll(socket).then(String, ({ code }) => `${code}`)
}

describe.skipIf(whyNoRedis() !== undefined)(`machines (skipped: ${whyNoRedis()})`, () => {
  let cluster: ClusterRelays
  let a: ClusterRelay
  let b: ClusterRelay
  beforeAll(async () => {
    cluster = await startClusterRelays(2)
    ;[a, b] = cluster.relays as [ClusterRelay, ClusterRelay]
  })
  afterAll(() => cluster?.close())

  async function leave(name: string, options: Parameters<ClusterRelay['register']>[1]): Promise<void> {
    const { access_token } = await a.register(name, options)
    await a.call('POST', '/sdk/unregister', { access_token })
  }

  test('have the page of a site that has left, also one that starts later, until the site comes', async () => {
    const account = newAccount()
    await leave('left', { account, away_page: true })
    await leave('plain', {})
    for (const at of [a, b]) await expect.poll(() => visit(at, 'left')).toMatch(AWAY)
    await b.stop()
    const again = await cluster.add({}, b)
    const later = await cluster.add()
    for (const at of [again, later]) {
      expect(await visit(at, 'left')).toMatch(AWAY)
      expect(await visit(at, 'plain')).not.toMatch(AWAY)
    }
    await a.register('left', { account })
    for (const { call } of [again, later]) {
      const isThere = async () => (await call('GET', '/api/state')).text.includes('"name":"left"')
      await expect.poll(isThere).toBe(true)
    }
  })
})
