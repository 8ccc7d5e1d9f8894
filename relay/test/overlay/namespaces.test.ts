// The network of this machine's own that the tests of linked relays use: its hosts reach each other, and nothing of it stays.

import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { startNetwork, whyNoNetwork } from '../../../tools/network/namespaces.ts'

describe.skipIf(whyNoNetwork() !== undefined)(`a network of namespaces (skipped: ${whyNoNetwork()})`, () => {
  test('links its hosts, and is gone when it is closed', () => {
    const network = startNetwork(2)
    const [first, second] = network.hosts
    const names = network.hosts.map(({ namespace }) => namespace)
    try {
      const connect = (): string =>
        first!.run(
          process.execPath,
          '-e',
          `require('node:net').connect(9, '${second!.hostname}').on('error', ({ code, address }) => console.log(code, address))`,
        )
      // A refusal comes from the host itself.
      expect(connect()).toBe(`ECONNREFUSED ${second!.address}\n`)
      expect(first!.run('wireguard-go', '--version')).toContain('wireguard-go')
      expect(() => first!.run('ip', 'link', 'show', 'absent')).toThrow('absent')
    } finally {
      network.close()
    }
    expect(
      names.filter((name) => existsSync(`/run/netns/${name}`) || existsSync(`/etc/netns/${name}`)),
    ).toEqual([])
  })
})
