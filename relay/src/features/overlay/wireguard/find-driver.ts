// Finds the driver that this machine has, or says why there is none.

import { readFile } from 'node:fs/promises'
import { hasProgram } from './command.ts'
import type { OverlayDriver } from './driver.ts'
import { kernelDriver } from './kernel-driver.ts'
import { processDrivers } from './process-driver.ts'

/** Programs that every driver needs, with their Debian packages. */
const TOOLS = { ip: 'iproute2', wg: 'wireguard-tools', sh: 'dash' } as const

/** The drivers in order of preference: the kernel handles several times as many packets as a process. */
const DRIVERS: readonly OverlayDriver[] = [kernelDriver, ...processDrivers]

/** @returns the driver, or why there is none */
export async function findDriver(): Promise<OverlayDriver | string> {
  if (process.platform !== 'linux') return 'the WireGuard link needs Linux'
  for (const [program, debianPackage] of Object.entries(TOOLS))
    if (!(await hasProgram(program))) return `the machine has no ${program} (Debian package ${debianPackage})`
  if (!mayConfigure(await readFile('/proc/self/status', 'utf8')))
    return 'the relay needs the rights of root, or CAP_NET_ADMIN as an ambient capability'
  let obstacle: string | undefined
  for (const driver of DRIVERS) {
    if (!(await driver.isAvailable())) continue
    const found = await driver.obstacle?.()
    if (found === undefined) return driver
    obstacle ??= `${driver.name}: ${found}`
  }
  return (
    obstacle ??
    'neither the kernel has WireGuard, nor the machine wireguard-go or boringtun-cli (Debian package wireguard-go)'
  )
}

/** Bit of the capability to configure networks, in the sets of /proc (capabilities(7)). */
const CAP_NET_ADMIN = 12n

/**
 * Returns whether programs that this process starts may configure networks. They inherit its ambient capabilities or,
 * if it is root, all effective ones, but not those of its executable file.
 * @param status /proc/self/status
 */
export function mayConfigure(status: string): boolean {
  const [, effectiveUser] = /^Uid:\t([0-9]+)\t([0-9]+)/m.exec(status)?.slice(1) ?? []
  const set = effectiveUser === '0' ? /^CapEff:\t([0-9a-f]+)$/m : /^CapAmb:\t([0-9a-f]+)$/m
  const capabilities = set.exec(status)?.[1] ?? '0'
  return ((BigInt(`0x${capabilities}`) >> CAP_NET_ADMIN) & 1n) === 1n
}
