// WireGuard of the Linux kernel.

import { runCommand } from './command.ts'
import type { OverlayDriver, OverlayLink } from './driver.ts'

/** Part of the name of an interface that is made to find out whether the kernel can. */
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
    // A program that removes the interface tells nobody: the next look at it shows that it is gone.
    return { ended: new Promise(() => {}), close: () => removeInterface(interfaceName) }
  },
}

/** An interface that is not there is no error. */
export async function removeInterface(name: string): Promise<void> {
  await runCommand('ip', ['link', 'delete', 'dev', name]).catch(() => {})
}

async function add(name: string): Promise<void> {
  await runCommand('ip', ['link', 'add', 'dev', name, 'type', 'wireguard'])
}
