// The budgets of clients without a token: their bursts, the limits that scale with them, and who is exempt.

import type { Rate } from '@svc/node-kit/gcra'
import {
  BUDGET_COST,
  CHALLENGES_PER_SOURCE_MAX,
  RELAY_BUDGET_BURST,
  RELAY_BUDGET_PER_MINUTE,
  SOURCE_BUDGET_BURST,
  SOURCE_BUDGET_PER_MINUTE,
} from '@svc/protocol'
import { isLoopback } from '../client-address/ip-address.ts'
import type { RateLimitSettings } from '../config/settings.ts'

/** Units of one registration, its challenge included. */
export const REGISTRATION_COST: number = BUDGET_COST.challenge + BUDGET_COST.register

export function networkBudget({ networkPerMinute }: RateLimitSettings): Rate {
  return scaledBudget(networkPerMinute, { perMinute: SOURCE_BUDGET_PER_MINUTE, burst: SOURCE_BUDGET_BURST })
}

export function relayBudget({ relayPerMinute }: RateLimitSettings): Rate {
  return scaledBudget(relayPerMinute, { perMinute: RELAY_BUDGET_PER_MINUTE, burst: RELAY_BUDGET_BURST })
}

/** Scales a rate and its burst. A whole registration stays possible at once, however low the rate is. */
export function scaledBudget(perMinute: number, usual: Rate): Rate {
  return { perMinute, burst: Math.max(REGISTRATION_COST, (usual.burst * perMinute) / usual.perMinute) }
}

/**
 * Whether a client has no budget.
 * @param clientIp normalized
 */
export function isSpared({ sparesLoopback }: RateLimitSettings, clientIp: string): boolean {
  return sparesLoopback === true && isLoopback(clientIp)
}

/**
 * Open challenges that a client's network may have. The number rises with the budget that the operator sets.
 * @param clientIp normalized
 */
export function openChallengesMax(settings: RateLimitSettings, clientIp: string): number {
  if (isSpared(settings, clientIp)) return Number.MAX_SAFE_INTEGER
  return Math.floor(CHALLENGES_PER_SOURCE_MAX * raisedBy(settings))
}

/** The factor by which the operator raised the budget of a network, at least 1. */
export function raisedBy({ networkPerMinute }: RateLimitSettings): number {
  return Math.max(1, networkPerMinute / SOURCE_BUDGET_PER_MINUTE)
}

/** Names the limit of a network, for the text of a refusal. */
export function ofNetwork(settings: RateLimitSettings): string {
  return `requests from your network, ${described(networkBudget(settings), 'SOURCE_BUDGET_PER_MINUTE')}`
}

/** The same for the limit of all networks. */
export function ofRelay(settings: RateLimitSettings): string {
  return `requests from all networks together, ${described(relayBudget(settings), 'RELAY_BUDGET_PER_MINUTE')}`
}

function described({ perMinute, burst }: Rate, setting: string): string {
  return `which have ${perMinute} units a minute and ${Math.floor(burst)} at once (${setting}); a registration takes ${REGISTRATION_COST}`
}
