// `svc serve --overlay` with relays that WireGuard links, each on a host of its own: visitors come by a gateway.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, test as every, expect, vi } from 'vitest'
import { startNetwork, type TestNetwork, whyNoNetwork } from '../../../tools/network/namespaces.ts'
import { root } from '../../../tools/programs/command.ts'
import {
  type LinkedRelay,
  type LinkedRelays,
  METRICS_PORT,
  startLinkedRelays,
} from '../../../tools/relay/linked-relays.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'

const test = wholeOnly(every, 'variant')

const PATIENT_MS = 120_000
const PAGE = 'what the visitor reads of the site'

let network: TestNetwork
let linked: LinkedRelays
let directory: string
let svc: ChildProcess | undefined

function reading({ host }: LinkedRelay, name: string): number {
  const script = `fetch('http://127.0.0.1:${METRICS_PORT}/metrics').then(async (answer) => console.log(await answer.text()))`
  const text = host.run(process.execPath, '-e', script)
  return Number(new RegExp(`^svc_relay_${name} (\\S+)$`, 'm').exec(text)?.[1])
}

/** Resolves with the URL of the site when visitors can come. */
async function online(child: ChildProcess): Promise<string> {
  const lines: string[] = []
  for await (const line of createInterface(child.stdout!)) {
    lines.push(line)
    const { event, url } = JSON.parse(line)
    if (event === 'online') return url
  }
  throw new Error(`the site did not come online: ${lines.join('\n')}`)
}

describe.skipIf(whyNoNetwork() !== undefined)(`a gateway over WireGuard (skipped: ${whyNoNetwork()})`, () => {
  beforeAll(async () => {
    network = startNetwork(4, { subnet: '10.0.63' })
    directory = await mkdtemp(path.join(tmpdir(), 'svc-linked-gateway-'))
    const config = path.join(directory, 'overlay.json')
    await writeFile(config, JSON.stringify({ network: 'wireguard' }))
    linked = await startLinkedRelays(network, { OVERLAY_CONFIG: config }, network.hosts.slice(0, 2))
    await linked.connected()
  })

  afterAll(async () => {
    if (svc?.exitCode === null) {
      svc.kill('SIGTERM')
      await once(svc, 'exit')
    }
    await linked?.close()
    network?.close()
    await rm(directory, { recursive: true, force: true })
  })

  test('visitors come by it, and directly once it is gone', async () => {
    const [ingress, gateway] = linked.relays
    const [siteHost, visitorHost] = network.hosts.slice(2)
    await writeFile(path.join(directory, 'page.txt'), PAGE)
    await vi.waitUntil(() => reading(ingress!, 'gateways_available') === 1, {
      timeout: PATIENT_MS,
      interval: 500,
    })
    const [program = '', ...through] = siteHost!.through
    const command = [process.execPath, path.join(root, 'sdk-node/src/cli/main.ts'), 'serve', directory]
    const options = ['--name', 'demo', '--relay', ingress!.url, '--overlay', '--allow-local-gateways']
    const files = ['--identity-path', path.join(directory, 'identity.json'), '--ca', ingress!.caFile]
    svc = spawn(program, [...through, ...command, ...options, ...files, '--json'], {
      env: { ...process.env, ...network.env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const { host } = new URL(await online(svc))
    const script = `require('node:https').get({
        host: '${ingress!.host.address}', servername: '${host}', path: '/page.txt',
        headers: { Host: '${host}' }, ca: require('node:fs').readFileSync('${ingress!.caFile}'),
      }, async (answer) => { for await (const chunk of answer) process.stdout.write(chunk) })`
    const read = (): string => visitorHost!.run(process.execPath, '-e', script)
    expect(read()).toBe(PAGE)
    expect(reading(gateway!, 'gateway_sessions')).toBeGreaterThan(0)
    expect(reading(ingress!, 'overlay_connections')).toBeGreaterThan(0)

    await gateway!.kill()
    await vi.waitUntil(() => readOr(read) === PAGE, { timeout: PATIENT_MS, interval: 500 })
  })
})

/** @returns undefined while visitors cannot come */
function readOr(read: () => string): string | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
