// The hosts that mean the local machine, such as those of a relay on localhost.

/** `localhost` and the names below it (RFC 6761 §6.3), and loopback addresses, as a URL spells them. */
const OWN_MACHINE = /(?:^|\.)localhost\.?$|^127(?:\.\d{1,3}){3}$|^\[::1\]$/

/**
 * Returns whether the host means the local machine on every device, so that a link to it is useless on another one.
 * @param hostname the hostname of a URL
 */
export function isOwnMachine(hostname: string): boolean {
  return OWN_MACHINE.test(hostname)
}
