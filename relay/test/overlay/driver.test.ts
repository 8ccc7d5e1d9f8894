// A relay checks its rights, and the needs of the programs, before it makes WireGuard interfaces.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { whyNoNetwork } from '../../../tools/network/namespaces.ts'
import { findWireGuardPrograms } from '../../../tools/programs/wireguard.ts'
import { mayConfigure } from '../../src/features/overlay/wireguard/find-driver.ts'

const DRIVER = join(import.meta.dirname, '../../src/features/overlay/wireguard/find-driver.ts')
const PROCESS_DRIVER = join(import.meta.dirname, '../../src/features/overlay/wireguard/process-driver.ts')
const NONE = '0000000000000000'
const NET_ADMIN = '0000000000001000'

const statusOf = (user: number, effective: string, ambient: string): string =>
  `Name:\tnode\nUid:\t${user}\t${user}\t${user}\t${user}\nCapPrm:\t${effective}\nCapEff:\t${effective}\nCapAmb:\t${ambient}\n`

test('programs that the relay starts may configure networks where it is root, or has an ambient capability', () => {
  expect(mayConfigure(statusOf(0, NET_ADMIN, NONE))).toBe(true)
  expect(mayConfigure(statusOf(0, NONE, NONE))).toBe(false)
  expect(mayConfigure(statusOf(1000, NET_ADMIN, NET_ADMIN))).toBe(true)
  // As the capability of a file is: its children do not get it.
  expect(mayConfigure(statusOf(1000, NET_ADMIN, NONE))).toBe(false)
  expect(mayConfigure('')).toBe(false)
})

/** Runs a script where the shell command went before, in a mount namespace of its own. @returns what it printed */
function runAfter(prepare: string, script: string): string {
  const env = { ...process.env, ...findWireGuardPrograms() }
  const command = ['--mount', 'sh', '-c', `${prepare} && exec "$@"`, 'sh', process.execPath, '-e', script]
  const { stdout, stderr } = spawnSync('unshare', command, { encoding: 'utf8', env })
  return `${stdout}${stderr}`
}

describe.skipIf(whyNoNetwork() !== undefined)(`a machine with WireGuard (skipped: ${whyNoNetwork()})`, () => {
  const find = `import(${JSON.stringify(DRIVER)}).then(async (found) => console.log((await found.findDriver()).name ?? (await found.findDriver())))`

  test('says what the process in user space lacks', () => {
    expect(runAfter('true', find)).toMatch(/^(kernel|wireguard-go|boringtun-cli)$/m)
    // A kernel that has WireGuard needs neither.
    expect(runAfter('mount --bind / /dev/net', find)).toMatch(/^kernel$|^neither the kernel/m)
    const readOnly = 'mkdir -p /var/run/wireguard && mount -t tmpfs -o ro none /var/run/wireguard'
    expect(runAfter(readOnly, find)).toMatch(/^kernel$|^wireguard-go: it cannot have its control socket/m)
  })

  test('tells the last words of a process that could not start', () => {
    const open = `import(${JSON.stringify(PROCESS_DRIVER)}).then(({ processDrivers }) => processDrivers[0].open('svc0000000000')).catch((error) => console.log(error.message))`
    const said = runAfter('mount --bind /dev/null /dev/net/tun', open)
    expect(said).toMatch(/^it ended with exit code 1: .*TUN device/m)
  })
})
