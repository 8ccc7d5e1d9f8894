// Checks who may administer the relay, which proxies it trusts about client addresses, and what strangers may use.

import { type Found, off, ok } from '../../core/check/finding.ts'
import type { Settings } from '../../core/config/settings.ts'

export function checkAdministration({ adminToken, url }: Settings): Found[] {
  if (adminToken === undefined) return [off('ADMIN_TOKEN is not set.')]
  return [ok(`${url.origin}/admin takes the ADMIN_TOKEN, which has ${adminToken.length} characters.`)]
}

export function checkProxies({ trustedProxies }: Settings): Found[] {
  const proxies = trustedProxies.text.split(',').filter((part) => part.trim() !== '')
  if (proxies.length === 0)
    return [off('TRUSTED_PROXIES is not set: client addresses come from the sockets.')]
  return [ok(`The relay takes the client address from ${proxies.map((one) => one.trim()).join(', ')}.`)]
}

export function checkRateLimits({ rateLimits }: Settings): Found[] {
  const { networkPerMinute, relayPerMinute, sparesLoopback } = rateLimits
  const spared = sparesLoopback ? ' Clients on this machine have no limit.' : ''
  return [
    ok(
      `Without a token, a network has ${networkPerMinute} units a minute, and all have ${relayPerMinute}.${spared}`,
    ),
  ]
}
