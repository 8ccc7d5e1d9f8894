// The hosts that mean the machine of the person who opens them, such as those of a relay on localhost.

/** `localhost` and the names below it (RFC 6761 §6.3), and loopback addresses, as a URL spells them. */
const OWN_MACHINE = /(?:^|\.)localhost\.?$|^127(?:\.\d{1,3}){3}$|^\[::1\]$/

/**
 * Says whether each device that opens the host reaches itself: a link to it is of no use on another one, such as a phone.
 * @param hostname of a URL
 */
export function isOwnMachine(hostname: string): boolean {
  return OWN_MACHINE.test(hostname)
}
