// The WireGuard link between hosts of a network of namespaces, with the programs that a relay would use.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startNetwork, type TestNetwork, whyNoNetwork } from '../../../tools/network/namespaces.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import type { OverlayPeer } from '../../src/features/overlay/overlay-network.ts'
import type { VerifiedRelay } from '../../src/features/overlay/verified-relays.ts'
import type { LinkReadings } from '../../src/features/overlay/wireguard/wireguard-network.ts'
import { inventRelay } from '../support/descriptors.ts'
import type { LinkCommand } from '../support/link-node.ts'

const SCRIPT = join(import.meta.dirname, '../support/link-node.ts')
const LISTEN_PORT = 51_820
const OVERLAY_PORT = 41_820
const OVERLAY_NETWORK = 'fd9c:6cc0:2f1f::/48'
const HOSTS = 3
/** Time to close in order at the end: it ends what hangs. */
const CLOSE_MS = 20_000

type LinkState = LinkReadings & { all: OverlayPeer[] }

/** A process with the link on one host. */
interface Node {
  child: ChildProcess
  relay: VerifiedRelay
  overlayAddress: string
  tell(command: LinkCommand): void
  /** Sends a command and waits for the event that answers it. */
  ask<T>(command: LinkCommand): Promise<T>
  state(): Promise<LinkState>
}

let network: TestNetwork
let directories: string[]
const nodes: Node[] = []
/** Those of the first node until its interface was there for the first time. */
let restartsOfStart: number

/** Folders in which the relay looks for programs besides those of PATH. */
const ADMIN_FOLDERS = '/usr/local/sbin:/usr/sbin:/sbin'
/** Runs a program without any copy of nft that the relay would find, in the mount namespace that it has on its host. */
const WITHOUT_NFT = [
  ...['sh', '-c'],
  `IFS=:; for folder in $PATH:${ADMIN_FOLDERS}; do
    [ ! -x "$folder/nft" ] || mount --bind /dev/null "$folder/nft" || exit
  done; unset IFS; exec "$@"`,
  'sh',
]

async function startNode(index: number, wrapper: readonly string[] = []): Promise<Node> {
  const { through, hostname } = network.hosts[index]!
  const [program = '', ...args] = [
    ...through,
    ...wrapper,
    process.execPath,
    SCRIPT,
    directories[index]!,
    `${LISTEN_PORT}`,
  ]
  const env = { ...process.env, ...network.env }
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]()
  const next = async <T>(): Promise<T> => JSON.parse((await lines.next()).value ?? '{}')
  const { publicKey, address } = await next<{ publicKey: string; address: string }>()
  const tell = (command: LinkCommand): void => void child.stdin!.write(`${JSON.stringify(command)}\n`)
  const ask = async <T>(command: LinkCommand): Promise<T> => {
    tell(command)
    return await next<T>()
  }
  const origin = `https://${hostname}`
  const fields = { supports_overlay: true, wireguard_public_key: publicKey, wireguard_port: LISTEN_PORT }
  const relay = { origin, address: `0x${index}`, descriptor: inventRelay().describe(origin, fields) }
  const state = (): Promise<LinkState> => ask({ kind: 'state' })
  const node: Node = { child, relay, overlayAddress: address, tell, ask, state }
  nodes[index] = node
  // A busy machine may need a second attempt for the interface.
  await vi.waitUntil(async () => (await state()).isUp)
  return node
}

/** Tells every node of all others. */
function introduce(): void {
  for (const node of nodes) {
    const relays = nodes.filter((other) => other !== node).map(({ relay }) => relay)
    node.tell({ kind: 'relays', own: node.relay, relays })
  }
}

const askPeer = (from: Node, to: Node): Promise<{ text?: string; error?: string }> =>
  from.ask({ kind: 'ask', identity: to.relay.address })

/** One connection: from which address, to which one, and the port. */
type Dial = readonly [from: string, to: string, port: number]

/** Connects from a host, and asks as HTTP does. @returns for each what came, the error's code, or `silent` */
function dial(index: number, dials: readonly Dial[]): string[] {
  const script = `
    const { connect } = require('node:net')
    const dial = ([localAddress, host, port]) => new Promise((resolve) => {
      const socket = connect({ host, port, localAddress })
      const end = (text) => { socket.destroy(); resolve(text) }
      socket.setTimeout(2000, () => end('silent'))
      socket.on('error', ({ code }) => end(code)).on('data', (data) => end(String(data).split('\\n').at(-1)))
      socket.write('GET /who HTTP/1.1\\r\\nHost: overlay\\r\\n\\r\\n')
    })
    Promise.all(${JSON.stringify(dials)}.map(dial)).then((texts) => console.log(JSON.stringify(texts)))`
  return JSON.parse(network.hosts[index]!.run(process.execPath, '-e', script))
}

/** The process that has an interface. */
async function processOf(interfaceName: string): Promise<number> {
  for (const pid of await readdir('/proc')) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (line === `wireguard-go\0--foreground\0${interfaceName}\0`) return Number(pid)
  }
  throw new Error(`no process has ${interfaceName}`)
}

const interfaceOf = async (index: number): Promise<string> =>
  JSON.parse(await readFile(join(directories[index]!, 'wireguard.json'), 'utf8')).interface

const interfacesOf = (index: number): string => network.hosts[index]!.run('ip', '-brief', 'link')

describe.skipIf(whyNoNetwork() !== undefined)(`the WireGuard link (skipped: ${whyNoNetwork()})`, () => {
  beforeAll(async () => {
    network = startNetwork(HOSTS)
    directories = await Promise.all(network.hosts.map(() => mkdtemp(join(tmpdir(), 'svc-link-'))))
    await Promise.all(network.hosts.map((_, index) => startNode(index)))
    restartsOfStart = (await nodes[0]!.state()).restarts
    introduce()
  })

  afterAll(async () => {
    for (const { child, tell } of nodes) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      // A test that failed may have left it standing, or unable to close.
      child.kill('SIGCONT')
      tell({ kind: 'close' })
      const end = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS)
      await once(child, 'exit')
      clearTimeout(end)
    }
    network?.close()
    await Promise.all(directories?.map((directory) => rm(directory, { recursive: true })) ?? [])
  })

  test('joins all hosts, and each knows who asks', async () => {
    await expect.poll(async () => (await nodes[0]!.state()).connected).toBe(HOSTS - 1)
    for (const [from, to] of [
      [0, 1],
      [1, 2],
      [2, 0],
    ] as const)
      expect(await askPeer(nodes[from]!, nodes[to]!)).toEqual({
        kind: 'answer',
        text: nodes[from]!.relay.address,
      })
    const { peers, handshakeAgeMs, receivedBytes, sentBytes, restarts } = await nodes[0]!.state()
    expect({ peers, restarts }).toEqual({ peers: HOSTS - 1, restarts: restartsOfStart })
    expect(handshakeAgeMs).toBeGreaterThanOrEqual(0)
    expect(Math.min(receivedBytes, sentBytes)).toBeGreaterThan(0)
  })

  test('has the key of its descriptor, the MTU and the keepalive', async () => {
    const name = await interfaceOf(0)
    const key = network.hosts[0]!.run('wg', 'show', name, 'public-key').trim()
    expect(key).toBe(nodes[0]!.relay.descriptor.wireguard_public_key)
    expect(network.hosts[0]!.run('ip', 'link', 'show', name)).toContain('mtu 1420')
    expect(network.hosts[0]!.run('wg', 'show', name, 'persistent-keepalive')).toMatch(/\t25\n.*\t25\n$/)
  })

  test('opens the overlay server to a peer, and nothing else of the machine', async () => {
    const [first, , third] = nodes
    const name = await interfaceOf(0)
    const [program = '', ...args] = network.hosts[0]!.through
    const script = "net.createServer((socket) => socket.end('other')).listen(444, '::', () => console.log(1))"
    const elsewhere = spawn(program, [...args, process.execPath, '-e', script])
    const listenElsewhere = once(elsewhere.stdout, 'data')
    // This process of ours leaves, and the tools of WireGuard use its key.
    const file = JSON.parse(await readFile(join(directories[2]!, 'wireguard.json'), 'utf8'))
    third!.tell({ kind: 'close' })
    await once(third!.child, 'exit')
    const host = network.hosts[2]!
    const foreign = spawn(
      host.through[0]!,
      [...host.through.slice(1), 'wireguard-go', '--foreground', file.interface],
      {
        env: { ...process.env, ...network.env },
        stdio: 'ignore',
      },
    )
    try {
      await expect.poll(() => interfacesOf(2)).toContain(file.interface)
      await expect
        .poll(() => host.run('sh', '-c', `wg show ${file.interface} public-key || true`))
        .not.toBe('')
      const { wireguard_public_key: key } = first!.relay.descriptor
      host.run(
        'sh',
        '-c',
        `echo '${file.private_key}' | wg set ${file.interface} listen-port ${LISTEN_PORT} private-key /dev/stdin peer ${key} endpoint ${network.hosts[0]!.address}:${LISTEN_PORT} allowed-ips ::/0 persistent-keepalive 5`,
      )
      for (const own of [third!.overlayAddress, 'fd9c:6cc0:2f1f::1', '2001:db8::1'])
        host.run('ip', '-6', 'address', 'add', `${own}/128`, 'dev', file.interface, 'nodad')
      host.run('ip', 'link', 'set', file.interface, 'mtu', '1420', 'up')
      host.run('ip', '-6', 'route', 'add', 'default', 'dev', file.interface)
      network.hosts[0]!.run('ip', '-6', 'address', 'add', '2001:db8::2/128', 'dev', 'eth0', 'nodad')
      network.hosts[0]!.run('ip', '-6', 'address', 'add', '2001:db8::3/128', 'dev', 'lo', 'nodad')

      const from = third!.overlayAddress
      const to = first!.overlayAddress
      const dials: Dial[] = [
        [from, to, OVERLAY_PORT],
        // Another port, other addresses of the machine, and other source addresses.
        [from, to, 443],
        [from, '2001:db8::2', 443],
        [from, '2001:db8::3', OVERLAY_PORT],
        ['fd9c:6cc0:2f1f::1', to, OVERLAY_PORT],
        ['2001:db8::1', to, OVERLAY_PORT],
      ]
      const closed = ['silent', 'silent', 'silent', 'silent', 'silent']
      await expect.poll(() => dial(2, dials)).toEqual([third!.relay.address, ...closed])
      // The rules of the machine are loaded again, which begins with this command. Only the rules of the relay, which
      // stands still meanwhile, keep the other ports of the machine from the peer.
      first!.child.kill('SIGSTOP')
      network.hosts[0]!.run('nft', 'flush', 'ruleset')
      await listenElsewhere
      expect(dial(2, [[from, to, 444]])).toEqual(['other'])
      first!.child.kill('SIGCONT')
      await expect.poll(() => network.hosts[0]!.run('nft', 'list', 'tables')).toContain(`table inet ${name}`)
      expect(dial(2, [...dials, [from, to, 444]])).toEqual([third!.relay.address, ...closed, 'silent'])
      // Part of the rules is as bad as none.
      network.hosts[0]!.run('nft', 'flush', 'chain', 'inet', name, 'input')
      await expect
        .poll(() => network.hosts[0]!.run('nft', 'list', 'chain', 'inet', name, 'input'))
        .toContain('drop')
    } finally {
      elsewhere.kill('SIGKILL')
      foreign.kill('SIGTERM')
      await once(foreign, 'exit')
    }
  })

  test('answers at its interface alone, and to nobody who is elsewhere with an address of the overlay', async () => {
    const [first, second] = nodes
    const [host, neighbour] = network.hosts
    const name = await interfaceOf(0)
    const link = (own: string): void => {
      host!.run('ip', '-6', 'address', 'replace', `${own}::1/64`, 'dev', 'eth0', 'nodad')
      neighbour!.run('ip', '-6', 'address', 'replace', `${own}::2/64`, 'dev', 'eth0', 'nodad')
    }
    link('2001:db8:1')
    link('fd9c:6cc0:2f1f:ffff')
    neighbour!.run('ip', '-6', 'route', 'replace', `${first!.overlayAddress}/128`, 'via', '2001:db8:1::1')
    const dials: Dial[] = [
      ['2001:db8:1::2', '2001:db8:1::1', 443],
      ['2001:db8:1::2', first!.overlayAddress, OVERLAY_PORT],
      ['2001:db8:1::2', first!.overlayAddress, 443],
      ['fd9c:6cc0:2f1f:ffff::2', '2001:db8:1::1', 443],
    ]
    expect(dial(1, dials)).toEqual(['other', 'silent', 'silent', 'silent'])
    neighbour!.run('ip', '-6', 'route', 'delete', `${first!.overlayAddress}/128`)
    for (const { run } of [host!, neighbour!]) run('ip', '-6', 'address', 'flush', 'dev', 'eth0')
    expect(host!.run('ip', '-6', 'address', 'show', 'dev', name)).toContain(first!.overlayAddress)
    await expect.poll(async () => (await askPeer(second!, first!)).text).toBe(second!.relay.address)
  })

  test('a relay that names the key of another one, and its host, does not get its place', async () => {
    const [owner, other] = nodes
    const { overlayAddress } = owner!
    // Its host is that of the owner by its DNS, and discovery knew it first.
    const thief = { ...owner!.relay, origin: `https://${network.hosts[0]!.address}`, address: '0xthief' }
    const holder = async (): Promise<string | undefined> =>
      (await other!.state()).all.find((peer) => peer.overlayAddress === overlayAddress)?.identity
    const know = (...relays: VerifiedRelay[]): void =>
      other!.tell({ kind: 'relays', own: other!.relay, relays })
    know(thief)
    await expect.poll(holder).toBe('0xthief')
    know(thief, owner!.relay)
    await expect.poll(holder).toBe(owner!.relay.address)
    introduce()
    await expect.poll(async () => (await askPeer(owner!, other!)).text).toBe(owner!.relay.address)
  })

  test('comes back when its process was killed, and tells meanwhile that it is down', async () => {
    const name = await interfaceOf(0)
    const { run } = network.hosts[0]!
    // Nothing for the overlay leaves by another interface while the relay has not noticed yet.
    run('ip', '-6', 'route', 'replace', 'default', 'dev', 'eth0')
    nodes[0]!.child.kill('SIGSTOP')
    process.kill(await processOf(name), 'SIGKILL')
    await expect.poll(() => interfacesOf(0)).not.toContain(name)
    expect(() => run('ip', '-6', 'route', 'get', nodes[1]!.overlayAddress)).toThrow('No route to host')
    nodes[0]!.child.kill('SIGCONT')
    await expect.poll(async () => (await nodes[0]!.state()).isUp).toBe(false)
    expect((await askPeer(nodes[0]!, nodes[1]!)).error).toBeDefined()
    await expect.poll(async () => (await nodes[0]!.state()).isUp).toBe(true)
    await expect.poll(async () => (await askPeer(nodes[0]!, nodes[1]!)).text).toBe(nodes[0]!.relay.address)
    expect((await nodes[0]!.state()).restarts).toBe(restartsOfStart + 1)
  })

  wholeOnly(test, 'faults')(
    'is mended where another program took its routes, and another relay of the machine does not take them',
    async () => {
      const { run, through } = network.hosts[0]!
      const routes = (): string => run('ip', '-6', 'route', 'show', OVERLAY_NETWORK)
      const before = routes()
      expect(before).toMatch(/ dev svc.*\nunreachable /)
      const directory = await mkdtemp(join(tmpdir(), 'svc-link-'))
      const command = [...through, process.execPath, SCRIPT, directory, `${LISTEN_PORT + 1}`]
      const env = { ...process.env, ...network.env }
      const second = spawn(command[0]!, command.slice(1), { env, stdio: ['pipe', 'pipe', 'inherit'] })
      const started = JSON.parse(`${(await once(second.stdout, 'data'))[0]}`)
      expect(started.isUp).toBe(false)
      expect(routes()).toBe(before)
      second.stdin.write(`${JSON.stringify({ kind: 'close' })}\n`)
      await once(second, 'exit')
      await rm(directory, { recursive: true })
      // The relay that left took the route that both need along.
      await expect.poll(routes).toBe(before)
      run('ip', '-6', 'route', 'delete', OVERLAY_NETWORK, 'metric', '1024')
      await expect.poll(routes).toBe(before)
      expect((await askPeer(nodes[0]!, nodes[1]!)).text).toBe(nodes[0]!.relay.address)
      expect((await nodes[0]!.state()).restarts).toBe(restartsOfStart + 1)
    },
  )

  test('leaves no process and no interface when the relay is killed, and follows a new key', async () => {
    const name = await interfaceOf(1)
    const { child, overlayAddress } = nodes[1]!
    child.kill('SIGKILL')
    await once(child, 'exit')
    await expect.poll(() => interfacesOf(1)).not.toContain(name)
    // The next start of this relay would remove it; here it gets a new name.
    await rm(`/var/run/wireguard/${name}.sock`)
    await rm(join(directories[1]!, 'wireguard.json'))
    const again = await startNode(1)
    expect(again.overlayAddress).not.toBe(overlayAddress)
    introduce()
    await expect.poll(async () => (await askPeer(nodes[0]!, again)).text).toBe(nodes[0]!.relay.address)
    expect((await nodes[0]!.state()).all.map((peer) => peer.overlayAddress)).not.toContain(overlayAddress)
  })

  wholeOnly(test, 'variant')('without nft its address is closed by routes', async () => {
    nodes[0]!.tell({ kind: 'close' })
    await once(nodes[0]!.child, 'exit')
    const again = await startNode(0, WITHOUT_NFT)
    introduce()
    const other = nodes[1]!
    const [to, from] = [again.overlayAddress, other.overlayAddress]
    await expect.poll(async () => (await askPeer(again, other)).text).toBe(again.relay.address)
    expect(network.hosts[0]!.run('nft', 'list', 'tables')).toBe('')
    // Its own rules would hide the answers, and it would set them again.
    other.child.kill('SIGSTOP')
    network.hosts[1]!.run('nft', 'delete', 'table', 'inet', await interfaceOf(1))
    const dials: Dial[] = [
      [from, to, OVERLAY_PORT],
      [from, to, 443],
      [from, to, 22],
    ]
    expect(dial(1, dials)).toEqual([other.relay.address, 'silent', 'silent'])
    other.child.kill('SIGCONT')
    again.tell({ kind: 'close' })
    await once(again.child, 'exit')
    expect(network.hosts[0]!.run('ip', '-6', 'rule')).not.toContain('41820')
    await startNode(0)
    introduce()
  })

  test('removes a relay that is no longer verified, and its own interface and rules at the end', async () => {
    const name = await interfaceOf(0)
    nodes[0]!.tell({ kind: 'relays', own: nodes[0]!.relay, relays: [] })
    await expect.poll(async () => (await nodes[0]!.state()).peers).toBe(0)
    await expect.poll(() => network.hosts[0]!.run('wg', 'show', name, 'peers')).toBe('')
    expect(network.hosts[0]!.run('nft', 'list', 'tables')).toContain(name)
    nodes[0]!.tell({ kind: 'close' })
    await once(nodes[0]!.child, 'exit')
    expect(interfacesOf(0)).not.toContain(name)
    expect(network.hosts[0]!.run('ip', '-6', 'route', 'show', OVERLAY_NETWORK)).toBe('')
    expect(existsSync(`/var/run/wireguard/${name}.sock`)).toBe(false)
    expect(network.hosts[0]!.run('nft', 'list', 'tables')).not.toContain(name)
  })
})
