// The file of OVERLAY_CONFIG: what it means, and a clear sentence for what it cannot mean.

import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  OVERLAY_CONFIG_MAX_BYTES,
  OVERLAY_PEERS_MAX,
  parseOverlayConfig,
  readOverlayConfig,
} from '../../src/features/overlay/overlay-config.ts'
import { readSettings } from '../../src/settings.ts'

const FILE = {
  network: '10.90.0.0/24',
  address: '10.90.0.1',
  port: 4017,
  peers: { 'https://b.example': '10.90.0.2' },
}

describe('the file of OVERLAY_CONFIG', () => {
  test('names the own endpoint, the network, and where each peer is', () => {
    const peers = { 'https://B.example/': '10.90.0.2', 'https://c.example:8443': '10.90.0.3:5000' }
    expect(parseOverlayConfig(JSON.stringify({ ...FILE, peers }))).toEqual({
      kind: 'given',
      network: '10.90.0.0/24',
      address: '10.90.0.1',
      port: 4017,
      peers: new Map([
        ['https://b.example', { address: '10.90.0.2', port: 4017 }],
        ['https://c.example:8443', { address: '10.90.0.3', port: 5000 }],
      ]),
    })
  })

  test('may be of IPv6', () => {
    const peers = { 'https://b.example': 'fd00::0002', 'https://c.example': '[fd00::3]:5000' }
    expect(
      parseOverlayConfig(JSON.stringify({ network: 'fd00::/64', address: 'fd00::1', port: 1, peers })),
    ).toMatchObject({
      peers: new Map([
        ['https://b.example', { address: 'fd00::2', port: 1 }],
        ['https://c.example', { address: 'fd00::3', port: 5000 }],
      ]),
    })
  })

  test('may name the overlay that the relay brings itself', () => {
    expect(parseOverlayConfig('{"network": "wireguard"}')).toEqual({ kind: 'wireguard' })
  })

  const tooMany = Object.fromEntries(
    Array.from({ length: OVERLAY_PEERS_MAX + 1 }, (_, at) => [`https://r${at}.example`, '10.90.0.2']),
  )
  test.each([
    ['not JSON', '{', 'not JSON'],
    ['no object', '[]', 'not a JSON object'],
    ['an unknown field', { ...FILE, adress: 1 }, '"adress" is not one of network, address, port, peers'],
    ['no network', { ...FILE, network: undefined }, '"network" needs a network'],
    ['an address for a network', { ...FILE, network: '10.90.0.1' }, '"network" needs a network'],
    ['more than wireguard', { network: 'wireguard', port: 1 }, '"port" is not for the network "wireguard"'],
    ['no address', { ...FILE, address: 'example' }, '"address" needs an IP address'],
    ['every address', { ...FILE, network: '0.0.0.0/0', address: '0.0.0.0' }, 'not every one'],
    ['an address outside', { ...FILE, address: '10.91.0.1' }, '10.91.0.1 is not in the network'],
    ['no port', { ...FILE, port: '4017' }, '"port" needs a port from 1 to 65535'],
    ['a port beyond', { ...FILE, port: 65_536 }, '"port" needs a port'],
    ['no peers', { ...FILE, peers: undefined }, '"peers" needs an object'],
    ['too many peers', { ...FILE, peers: tooMany }, `more than ${OVERLAY_PEERS_MAX} relays`],
    ['a peer by http', { ...FILE, peers: { 'http://b.example': '10.90.0.2' } }, 'is not a URL such as'],
    ['a peer with a path', { ...FILE, peers: { 'https://b.example/x': '10.90.0.2' } }, 'is not a URL'],
    ['a peer outside', { ...FILE, peers: { 'https://b.example': '10.1.0.2' } }, 'is not in the network'],
    ['a peer without an address', { ...FILE, peers: { 'https://b.example': 2 } }, 'needs an IP address'],
    ['a peer with no port', { ...FILE, peers: { 'https://b.example': '10.90.0.2:0' } }, 'needs a port'],
    ['a peer at the own address', { ...FILE, peers: { 'https://b.example': '10.90.0.1' } }, 'two relays'],
    [
      'a peer twice',
      { ...FILE, peers: { 'https://b.example': '10.90.0.2', 'https://B.example': '10.90.0.3' } },
      'twice',
    ],
  ])('is refused with %s', (_what, file, problem) => {
    const text = typeof file === 'string' ? file : JSON.stringify(file)
    expect(() => parseOverlayConfig(text)).toThrow(`OVERLAY_CONFIG: `)
    expect(() => parseOverlayConfig(text)).toThrow(problem)
  })

  test('is read whole, unless it is missing or too large', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'svc-overlay-'))
    try {
      const path = join(directory, 'overlay.json')
      await expect(readOverlayConfig(path)).rejects.toThrow('OVERLAY_CONFIG: ENOENT')
      await writeFile(path, JSON.stringify(FILE))
      expect(await readOverlayConfig(path)).toMatchObject({ address: '10.90.0.1' })
      await truncate(path, OVERLAY_CONFIG_MAX_BYTES + 1)
      await expect(readOverlayConfig(path)).rejects.toThrow('more than')
    } finally {
      await rm(directory, { recursive: true })
    }
  })
})

test('OVERLAY_CONFIG needs discovery, which verifies the peers', () => {
  const env = { SVC_URL: 'https://relay.example.com', OVERLAY_CONFIG: '/etc/overlay.json' }
  expect(() => readSettings(env)).toThrow('OVERLAY_CONFIG: needs DISCOVERY=true')
  expect(readSettings({ ...env, DISCOVERY: 'true' }).overlay.configFile).toBe('/etc/overlay.json')
})
