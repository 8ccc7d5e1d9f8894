// Closes the interface of the overlay as far as routes can, for a machine without nftables.

import { runCommand } from './command.ts'
import type { FirewallParts } from './firewall-parts.ts'

/** Number of the routing table that has the relay's overlay address, and priority of its rules. */
const TABLE = '41820'
const PREFERENCE = '20041'
/** Ports from which the relay's own connections come (`ip_local_port_range`, Linux's default). */
const OWN_PORTS = '32768-60999'
/** Rules that {@link routeToServer} adds. */
const RULES = 2

/**
 * Takes the overlay address, which the interface has, out of the table in which every packet is looked up first.
 * Packets for it are then accepted only by a rule: those to the overlay server, and answers of other overlay servers.
 * @throws Error when the system refuses
 */
export async function routeToServer({ interfaceName, address, port }: FirewallParts): Promise<void> {
  await removeRoutingRules(interfaceName)
  const local = ['local', address, 'dev', interfaceName, 'table']
  await ipv6('route', 'replace', ...local, TABLE)
  const rule = ['iif', interfaceName, 'to', address, 'ipproto', 'tcp']
  const end = ['lookup', TABLE, 'pref', PREFERENCE]
  await ipv6('rule', 'add', ...rule, 'dport', `${port}`, ...end)
  await ipv6('rule', 'add', ...rule, 'sport', `${port}`, 'dport', OWN_PORTS, ...end)
  await ipv6('route', 'delete', ...local, 'local')
}

/** @throws Error when the system refuses */
export async function hasRoutingRules(interfaceName: string): Promise<boolean> {
  const rules = await runCommand('ip', ['-6', 'rule', 'show', 'pref', PREFERENCE])
  return rules.split(`iif ${interfaceName} `).length > RULES
}

/** Removes the rules of this interface, including those of an earlier run of the relay. Never rejects. */
export async function removeRoutingRules(interfaceName: string): Promise<void> {
  for (let rule = 0; rule < RULES; rule++)
    await ipv6('rule', 'delete', 'pref', PREFERENCE, 'iif', interfaceName).catch(() => {})
}

async function ipv6(...args: string[]): Promise<void> {
  await runCommand('ip', ['-6', ...args])
}
