// A real `svc expose` that is killed: its visitors learn it soon, and it gets its name back at once.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, it as every, expect } from 'vitest'
import { newIdentity, RelayApi } from '../../../tools/relay/api-client.ts'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'
import { type ProcessRun, reported, runSvc } from '../support/svc.ts'

const it = wholeOnly(every, 'faults')

describe.each([
  ['1', atDepth(['native', 'native-sessions', 'websocket'], ['websocket'])],
  ['2', ['native']],
])('at a relay of processes: %s', (SVC_WORKERS, carriers) => {
  let relay: TestRelay
  let api: RelayApi
  let home: string
  beforeAll(async () => {
    relay = await startTestRelay({ SVC_WORKERS })
    api = new RelayApi(relay.origin, relay.ca, 1)
    home = await mkdtemp(join(tmpdir(), 'svc-killed-'))
  })
  afterAll(async () => {
    api.close()
    await relay.close()
    await rm(home, { recursive: true })
  })

  function expose(carrier: string): ProcessRun {
    const at = ['--relay', relay.origin, '--ca', relay.caFile, '--name', 'killed', '--json']
    return runSvc(home, ['expose', '1', ...at, '--carrier', carrier])
  }

  /** Resolves with the error of a visitor whom the relay lets go. */
  function refused(servername: string): Promise<string | undefined> {
    return new Promise((resolve) => {
      const visitor = connect({ host: '127.0.0.1', port: relay.port, servername, ca: relay.ca })
      visitor.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
      visitor.on('close', () => resolve(undefined))
    })
  }

  it.each(carriers)(
    'a visitor learns sooner that it was killed than one learns that a site never came: %s',
    async (carrier) => {
      const run = expose(carrier)
      const { url } = await reported(run, 'online')
      const { hostname } = new URL(url!)
      const identity = newIdentity()
      const absent = await api.register(identity, `absent-${carrier}`)
      const order: string[] = []
      await run.stop()
      const whole = refused(absent.hostname).then(() => order.push('never came'))
      for (const visitor of ['first', 'later']) {
        expect(await refused(hostname)).toBe('ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR')
        order.push(visitor)
      }
      await whole
      expect(order).toEqual(['first', 'later', 'never came'])
      const again = expose(carrier)
      expect((await reported(again, 'online')).url).toBe(url)
      await again.stop()
    },
  )
})
