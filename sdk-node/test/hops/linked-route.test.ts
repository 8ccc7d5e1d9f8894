// `svc serve --via` over relays that WireGuard links, each on a host of its own: what the relay between sees of the site, of the
// visitor, and of what they say.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, test as every, expect } from 'vitest'
import { startNetwork, type TestNetwork, whyNoNetwork } from '../../../tools/network/namespaces.ts'
import { root } from '../../../tools/programs/command.ts'
import { type LinkedRelays, startLinkedRelays } from '../../../tools/relay/linked-relays.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { HostProcesses } from '../support/host-processes.ts'

const test = wholeOnly(every, 'depth')

const PLAINTEXT = 'what the visitor reads of the site'

let network: TestNetwork
let linked: LinkedRelays
let directory: string
const processes = new HostProcesses()

/** Resolves with the URL of the site when visitors can come. */
async function online(svc: ChildProcess): Promise<string> {
  const lines: string[] = []
  for await (const line of createInterface(svc.stdout!)) {
    lines.push(line)
    const { event, url } = JSON.parse(line)
    if (event === 'online') return url
  }
  throw new Error(`the site did not come online: ${lines.join('\n')}`)
}

describe.skipIf(whyNoNetwork() !== undefined)(
  `a route over linked relays (skipped: ${whyNoNetwork()})`,
  () => {
    beforeAll(async () => {
      network = startNetwork(5, { subnet: '10.0.61' })
      directory = await mkdtemp(path.join(tmpdir(), 'svc-linked-route-'))
      linked = await startLinkedRelays(network, {}, network.hosts.slice(0, 3))
      await linked.connected()
    })

    afterAll(async () => {
      await processes.stopAll()
      await linked?.close()
      network?.close()
      await rm(directory, { recursive: true, force: true })
    })

    test('the relay between sees neither the addresses of both ends nor what they say', async () => {
      const [first, middle, last] = linked.relays
      const [siteHost, visitorHost] = network.hosts.slice(3)
      await writeFile(path.join(directory, 'page.txt'), `${PLAINTEXT}\n`.repeat(1000))
      const capture = path.join(directory, 'middle.pcap')
      const dump = ['tcpdump', '-i', 'any', '-U', '-w', capture, '-Z', 'root']
      const tcpdump = processes.start(network, middle!.host, dump, 'pipe')
      await once(tcpdump.stderr!, 'data')
      const svc = processes.start(network, siteHost!, [
        ...[process.execPath, path.join(root, 'sdk-node/src/cli/main.ts')],
        ...['serve', directory, '--name', 'demo'],
        ...['--json', '--identity-path', path.join(directory, 'identity.json'), '--ca', first!.caFile],
        ...['--relay', first!.url, '--via', `${middle!.url},${last!.url}`],
      ])
      const url = await online(svc)
      expect(url).toBe(`https://demo.${first!.host.hostname}`)
      const script = `require('node:https').get({
      host: '${first!.host.address}', servername: '${new URL(url).hostname}', path: '/page.txt',
      headers: { Host: '${new URL(url).host}' }, ca: require('node:fs').readFileSync('${first!.caFile}'),
    }, async (answer) => { for await (const chunk of answer) process.stdout.write(chunk) })`
      expect(visitorHost!.run(process.execPath, '-e', script)).toBe(`${PLAINTEXT}\n`.repeat(1000))
      await processes.stop(svc)
      await processes.stop(tcpdump)
      const packets = (filter: string): number =>
        middle!.host.run('tcpdump', '-n', '-Z', 'root', '-r', capture, filter).split('\n').length - 1
      // The relay between has passed the page on.
      expect(packets('tcp')).toBeGreaterThan(40)
      for (const { address } of [siteHost!, visitorHost!]) expect(packets(`ip host ${address}`)).toBe(0)
      const bytes = await readFile(capture)
      for (const text of [PLAINTEXT, siteHost!.address, visitorHost!.address])
        expect(bytes.includes(text)).toBe(false)
      // It sees the hostname, which a ClientHello has in the clear.
      expect(bytes.includes(new URL(url).hostname)).toBe(true)
    })
  },
)
