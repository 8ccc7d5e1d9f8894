// Whole relays that WireGuard links: they find each other by discovery, serve it on the overlay, follow bans, and
// serve visitors while the overlay is down.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test as every, expect } from 'vitest'
import { startNetwork, type TestNetwork, whyNoNetwork } from '../../../tools/network/namespaces.ts'
import {
  type LinkedRelay,
  type LinkedRelays,
  METRICS_PORT,
  startLinkedRelays,
  WIREGUARD_PORT,
} from '../../../tools/relay/linked-relays.ts'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { OVERLAY_PORT } from '../../src/features/overlay/settings.ts'
import { readLinkState } from '../../src/features/overlay/wireguard/link-state.ts'
import { overlayAddressOf } from '../../src/features/overlay/wireguard/overlay-address.ts'

const test = wholeOnly(every, 'depth')

const RELAYS = atDepth(5, 3)

let network: TestNetwork
let linked: LinkedRelays

const addressOf = async ({ directory }: LinkedRelay): Promise<string> =>
  overlayAddressOf((await readLinkState(directory))!.publicKey)

/**
 * Fetches on the relay's host, all at once.
 * @param localAddress where the requests come from
 * @returns the bodies; undefined for each answer but 200, and for none
 */
function getAll(
  { host, caFile }: LinkedRelay,
  urls: readonly string[],
  localAddress?: string,
): (string | undefined)[] {
  const script = `
    const ca = require('node:fs').readFileSync('${caFile}')
    const get = (url) => new Promise((resolve) => {
      const options = { ca, localAddress: ${JSON.stringify(localAddress)}, timeout: 2000 }
      const request = require('node:' + url.split(':')[0]).get(url, options, async (response) => {
        let body = ''
        for await (const chunk of response) body += chunk
        resolve(response.statusCode === 200 ? body : undefined)
      })
      request.on('error', () => resolve()).on('timeout', () => request.destroy())
    })
    Promise.all(${JSON.stringify(urls)}.map(get)).then((bodies) => console.log(JSON.stringify(bodies)))`
  const bodies: (string | null)[] = JSON.parse(host.run(process.execPath, '-e', script))
  return bodies.map((body) => body ?? undefined)
}

function get(relay: LinkedRelay, url: string, localAddress?: string): string | undefined {
  return getAll(relay, [url], localAddress)[0]
}

/** A metric of the relay. */
function metric(relay: LinkedRelay, name: string): number {
  const text = get(relay, `http://127.0.0.1:${METRICS_PORT}/metrics`) ?? ''
  return Number(new RegExp(`^svc_relay_${name} (.*)$`, 'm').exec(text)?.[1])
}

interface List {
  data: {
    relays: {
      api_https_addr: string
      supports_overlay: boolean
      wireguard_public_key: string
      wireguard_port: number
    }[]
  }
}

describe.skipIf(whyNoNetwork() !== undefined)(`linked relays (skipped: ${whyNoNetwork()})`, () => {
  beforeAll(async () => {
    network = startNetwork(RELAYS)
    linked = await startLinkedRelays(network)
  })

  afterAll(async () => {
    await linked?.close()
    network?.close()
  })

  test('all are peers of each other', async () => {
    for (const relay of linked.relays)
      await expect.poll(() => metric(relay, 'overlay_peers_connected')).toBe(RELAYS - 1)
  })

  test('each serves the same list of relays on the overlay as at its public address, and nothing else', async () => {
    const [first, second] = linked.relays
    const [from, to] = [await addressOf(first!), await addressOf(second!)]
    const overlay = `http://[${to}]:${OVERLAY_PORT}`
    const byOverlay: List = JSON.parse(get(first!, `${overlay}/discovery`, from)!)
    const byPublic: List = JSON.parse(get(first!, `${second!.url}/discovery`)!)
    const origins = ({ data }: List): string[] =>
      data.relays.map(({ api_https_addr }) => api_https_addr).sort()
    expect(origins(byOverlay)).toEqual(linked.relays.map(({ url }) => url).sort())
    expect(origins(byOverlay)).toEqual(origins(byPublic))
    const { publicKey } = (await readLinkState(second!.directory))!
    expect(byOverlay.data.relays[0]).toMatchObject({
      api_https_addr: second!.url,
      supports_overlay: true,
      wireguard_public_key: publicKey,
      wireguard_port: WIREGUARD_PORT,
    })
    const closed = ['/sdk/domain', '/sdk/connect', '/sdk/register', '/healthz', '/', '/api/admin/load']
    const others = [`https://[${to}]/`, `http://[${to}]:${METRICS_PORT}/metrics`]
    const answers = getAll(first!, [...closed.map((path) => `${overlay}${path}`), ...others], from)
    expect(answers.filter((answer) => answer !== undefined)).toEqual([])
    // The relay refuses as well: no rule keeps its own host from it.
    const publicly = [`${second!.url}/discovery`, `http://${second!.host.address}:${METRICS_PORT}/metrics`]
    expect(getAll(second!, publicly).filter((answer) => answer === undefined)).toEqual([])
    expect(getAll(second!, others).filter((answer) => answer !== undefined)).toEqual([])
    const dial = `require('node:net').connect(443, '${to}').on('error', ({ code }) => console.log(code)).on('connect', () => console.log('connected'))`
    expect(second!.host.run(process.execPath, '-e', dial)).toContain('ECONNRESET')
  })

  test('no log, argument or environment has the private key', async () => {
    const { directory, log, host } = linked.relays[0]!
    const { privateKey, interfaceName } = (await readLinkState(directory))!
    expect(JSON.stringify(log)).not.toContain(privateKey)
    const processes = host.run('ip', 'netns', 'pids', host.namespace).trim().split('\n')
    const seen: string[] = []
    for (const pid of processes)
      for (const file of ['cmdline', 'environ'])
        seen.push(await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => ''))
    expect(seen.some((text) => text.includes(interfaceName))).toBe(true)
    expect(seen.filter((text) => text.includes(privateKey))).toEqual([])
  })

  test('a banned relay is no peer any more', async () => {
    const [first, , third] = linked.relays
    const path = join(first!.directory, 'policy.json')
    const policy = await readFile(path, 'utf8')
    await writeFile(path, JSON.stringify({ ...JSON.parse(policy), banned_relays: [third!.url] }))
    await expect.poll(() => metric(first!, 'overlay_peers')).toBe(RELAYS - 2)
  })

  test('a relay whose overlay cannot be made says why, serves visitors, and tries again', async () => {
    const second = linked.relays[1]!
    await second.stop()
    const [program = '', ...args] = second.host.through
    const bind = `require('node:dgram').createSocket('udp4').bind(${WIREGUARD_PORT}, () => console.log('bound'))`
    const holder = spawn(program, [...args, process.execPath, '-e', bind], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(holder.stdout, 'data')
    await second.start()
    expect(second.log).toContainEqual(
      expect.objectContaining({
        msg: expect.stringContaining('the overlay is unavailable'),
        cause: expect.stringContaining(`UDP port ${WIREGUARD_PORT} cannot be used`),
      }),
    )
    const { data }: List = JSON.parse(get(second, `${second.url}/discovery`)!)
    expect(data.relays[0]).toMatchObject({
      supports_overlay: false,
      wireguard_public_key: '',
      wireguard_port: 0,
    })
    expect(metric(second, 'overlay_up')).toBe(0)
    holder.kill()
    await expect.poll(() => metric(second, 'overlay_up')).toBe(1)
  })

  // The slice has this with the link alone (wireguard-link.test.ts).
  test.runIf(atDepth(true, false))(
    'a relay that is killed leaves nothing behind, harms no other, and is a peer again',
    async () => {
      const second = linked.relays[1]!
      const third = linked.relays[2]!
      await second.kill()
      await expect.poll(() => second.host.run('ip', '-brief', 'link')).not.toContain('svc')
      expect(get(third, `${third.url}/sdk/domain`)).toBeDefined()
      await second.start()
      const overlay = `http://[${await addressOf(second)}]:${OVERLAY_PORT}/discovery`
      const from = await addressOf(third)
      await expect.poll(() => get(third, overlay, from)).toContain(third.url)
    },
  )
})
