// The load balancer of tests before a real relay: who the client was, and where connections go when a backend is gone.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, it as every, expect } from 'vitest'
import { freePort } from '../../network/free-port.ts'
import { curl } from '../../programs/curl.ts'
import { BALANCER_ADDRESS, findHaproxy, type Haproxy, startHaproxy } from '../../programs/haproxy.ts'
import { newIdentity, RelayApi } from '../../relay/api-client.ts'
import { startTestRelay, type TestRelay } from '../../relay/test-relay.ts'
import { wholeOnly } from '../../test-depth.ts'

const it = wholeOnly(every, 'variant')

const ADMIN_TOKEN = 'a-long-random-value'
const CLIENT_ADDRESS = '127.0.0.3'

describe.skipIf(findHaproxy() === undefined)('haproxy', () => {
  let relay: TestRelay
  let balancer: Haproxy
  beforeAll(async () => {
    const [port, publicPort, nobody] = [await freePort(), await freePort(), await freePort()]
    relay = await startTestRelay({
      port,
      publicPort,
      env: { ADMIN_TOKEN, TRUSTED_PROXIES: BALANCER_ADDRESS },
    })
    balancer = await startHaproxy({
      port: publicPort,
      backends: [
        { name: 'dead', port: nobody },
        { name: 'live', port },
      ],
      host: 'relay.localhost',
      checkIntervalMs: 300,
    })
  })
  afterAll(async () => {
    await balancer?.stop()
    await relay?.stop()
  })

  const isWell = async (): Promise<string> => String(await curl(relay.caFile, `${relay.url}/api/healthz`))

  it('leads all clients to the backends that are up', async () => {
    for (let visits = 0; visits < 5; visits++) expect(await isWell()).toContain('"ok"')
    await balancer.untilUp(['live'])
    expect(await balancer.states()).toEqual({ dead: 'down', live: 'up' })
  })

  it('tells the relay the address of the client', async () => {
    const api = new RelayApi(relay.url, await readFile(relay.caFile, 'utf8'), 1, CLIENT_ADDRESS)
    await api.register(newIdentity(), 'behind-balancer')
    api.close()
    const admin = ['-H', `Authorization: Bearer ${ADMIN_TOKEN}`]
    const state = JSON.parse(String(await curl(relay.caFile, ...admin, `${relay.url}/api/policy/state`)))
    expect(state.data.leases).toMatchObject([{ client_ip: CLIENT_ADDRESS }])
  })

  it('leads nobody to a backend that is set aside', async () => {
    await balancer.set('live', 'maint')
    await expect(isWell()).rejects.toThrow('curl: (')
    await balancer.set('live', 'ready')
    await balancer.untilUp(['live'])
    expect(await isWell()).toContain('"ok"')
  })
})
