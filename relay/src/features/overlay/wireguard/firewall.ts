// Closes the interface of the overlay to everything but the overlay server: its peers are strangers, and the relay's other
// ports, and those of other programs, are none of their business.

import { hasProgram, runCommand } from './command.ts'
import type { FirewallParts } from './firewall-parts.ts'
import { INTERFACE_PREFIX } from './link-state.ts'
import { OVERLAY_NETWORK } from './overlay-address.ts'
import { removeRoutingRules } from './policy-routing.ts'

/**
 * Sets the rules, in a table of their own: those of the operator stay as they are, and hold as well.
 *
 * No TCP connection begins from outside but to the overlay server, and none passes through this machine. The overlay address answers at
 * the interface alone, and nobody at another one speaks with an address of the overlay. A table that a killed relay left does not
 * keep packets from its next interface, which may have another name.
 * @returns the rules as the system writes them
 * @throws Error when the system refuses
 */
export async function closeInterface(parts: FirewallParts): Promise<string> {
  await runCommand('nft', ['-f', '-'], rulesOf(parts))
  return await listRules(parts.interfaceName)
}

/** Returns whether the rules are as {@link closeInterface} set them. Never rejects. */
export async function isClosedAs(rules: string, interfaceName: string): Promise<boolean> {
  return await listRules(interfaceName).then(
    (now) => now === rules,
    () => false,
  )
}

async function listRules(interfaceName: string): Promise<string> {
  return await runCommand('nft', ['--stateless', 'list', 'table', 'inet', interfaceName])
}

/** Returns whether the rules can close the interface wholly. */
export function hasFirewall(): Promise<boolean> {
  return hasProgram('nft')
}

/** Never rejects: rules for an interface that is gone do no harm. */
export async function removeRules(interfaceName: string): Promise<void> {
  await removeRoutingRules(interfaceName)
  await runCommand('nft', ['delete', 'table', 'inet', interfaceName]).catch(() => {})
}

function rulesOf({ interfaceName, address, port }: FirewallParts): string {
  return `
table inet ${interfaceName}
delete table inet ${interfaceName}
table inet ${interfaceName} {
  chain input {
    type filter hook input priority -10; policy accept;
    iifname "lo" accept
    iifname != "${interfaceName}" ip6 daddr ${address} drop
    iifname != "${INTERFACE_PREFIX}*" ip6 saddr ${OVERLAY_NETWORK} drop
    iifname != "${interfaceName}" accept
    ip6 daddr != ${address} drop
    tcp dport ${port} accept
    tcp sport ${port} tcp flags & (syn | ack) != syn accept
    drop
  }
  chain forward {
    type filter hook forward priority -10; policy accept;
    iifname "${interfaceName}" drop
    oifname "${interfaceName}" drop
  }
}
`
}
