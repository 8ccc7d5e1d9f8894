// A site on a route over three relays that WireGuard links, each on a host of its own: what passes, and what happens when one of
// them goes. The slice has this over a given network (three-relays.test.ts).

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startNetwork, type TestNetwork, whyNoNetwork } from '../../../tools/network/namespaces.ts'
import { type LinkedRelays, startLinkedRelays } from '../../../tools/relay/linked-relays.ts'
import { atDepth } from '../../../tools/test-depth.ts'
import { HostProcesses } from '../support/host-processes.ts'

const RELAYS = 3
const MIB = 1024 * 1024
const LARGE_MIB = 1024
const PATIENT_MS = 300_000
const why = atDepth(whyNoNetwork, () => 'it is part of `npm test -- --whole`')()

let network: TestNetwork
let linked: LinkedRelays
let url: string
const processes = new HostProcesses()

/** Sends a body to the site, as a visitor on the first relay's host. @returns the answer; empty without one */
function ask(body: string): string {
  const { host, caFile } = linked.relays[0]!
  const script = `
    const { hostname: servername } = new URL('${url}')
    const options = { method: 'POST', host: '${host.address}', servername, headers: { Host: servername },
      ca: require('node:fs').readFileSync('${caFile}'), timeout: 5000 }
    const request = require('node:https').request(options, (response) => response.pipe(process.stdout))
    request.on('error', () => process.exit()).on('timeout', () => process.exit())
    request.end('${body}')`
  return host.run(process.execPath, '-e', script)
}

describe.skipIf(why !== undefined)(`a route over WireGuard (skipped: ${why})`, () => {
  beforeAll(async () => {
    network = startNetwork(RELAYS + 1)
    linked = await startLinkedRelays(network, {}, network.hosts.slice(0, RELAYS))
    await linked.connected()
    const script = join(import.meta.dirname, 'routed-site-process.ts')
    const route = linked.relays.map((relay) => relay.url).join()
    const site = processes.start(network, network.hosts[RELAYS]!, [
      process.execPath,
      script,
      route,
      linked.relays[0]!.caFile,
    ])
    const [line] = await once(createInterface(site.stdout!), 'line')
    url = line
  }, PATIENT_MS)

  afterAll(async () => {
    await processes.stopAll()
    await linked?.close()
    network?.close()
  })

  test(`a WebSocket and ${LARGE_MIB} MiB pass as they are`, { timeout: PATIENT_MS }, async () => {
    const { host, caFile } = linked.relays[0]!
    const script = join(import.meta.dirname, 'route-visitor-process.ts')
    const visitor = processes.start(network, host, [
      process.execPath,
      script,
      url,
      host.address,
      caFile,
      `${LARGE_MIB}`,
    ])
    const expected = createHash('sha256')
    const piece = Buffer.alloc(MIB, 'route')
    for (let index = 0; index < LARGE_MIB; index++) {
      piece.writeUInt32BE(index)
      expected.update(piece)
    }
    const [line] = await once(createInterface(visitor.stdout!), 'line')
    expect(JSON.parse(line)).toEqual({ message: 'answer to a message', sum: expected.digest('hex') })
  })

  test('killing each relay in turn stops the route, and the site is back with the relay', {
    timeout: PATIENT_MS,
  }, async () => {
    for (const relay of linked.relays) {
      await relay.kill()
      expect(ask('while one is gone')).toBe('')
      await relay.start()
      await expect.poll(() => ask('again')).toBe('answer to again')
    }
  })
})
