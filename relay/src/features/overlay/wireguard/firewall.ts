// Closes the interface of the overlay to everything but the overlay server: its peers are strangers, who must not reach
// the relay's other ports or those of other programs.

import { hasProgram, runCommand } from './command.ts'
import type { FirewallParts } from './firewall-parts.ts'
import { INTERFACE_PREFIX } from './link-state.ts'
import { OVERLAY_NETWORK } from './overlay-address.ts'
import { removeRoutingRules } from './policy-routing.ts'

/**
 * Sets the rules in their own table: those of the operator stay as they are, and apply as well.
 *
 * They allow TCP connections from outside only to the overlay server, and none through this machine. The overlay
 * address answers only at the interface, and packets with an overlay address are dropped at any other one. A table that
 * a killed relay left does not keep packets from its next interface, which may have another name.
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

/** Returns whether the machine has nftables, whose rules can close the interface fully. */
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
