// The driver for WireGuard of the Linux kernel.

import { runCommand } from './command.ts'
import type { OverlayDriver, OverlayLink } from './driver.ts'

/** Name prefix of an interface that is made to find out whether the kernel supports WireGuard. */
const PROBE = 'svcp'

export const kernelDriver: OverlayDriver = {
  name: 'kernel',

  async isAvailable() {
    const probe = `${PROBE}${process.pid}`
    // A relay that was killed may have left one, and had the same process ID.
    await removeInterface(probe)
    try {
      await add(probe)
    } catch {
      return false
    }
    await removeInterface(probe)
    return true
  },

  async open(interfaceName): Promise<OverlayLink> {
    await removeInterface(interfaceName)
    await add(interfaceName)
    // The kernel does not report when another program removes the interface: the next check shows it.
    return { ended: new Promise(() => {}), close: () => removeInterface(interfaceName) }
  },
}

/** Removes an interface. A missing one is not an error. */
export async function removeInterface(name: string): Promise<void> {
  await runCommand('ip', ['link', 'delete', 'dev', name]).catch(() => {})
}

async function add(name: string): Promise<void> {
  await runCommand('ip', ['link', 'add', 'dev', name, 'type', 'wireguard'])
}
