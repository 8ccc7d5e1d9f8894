// The handler of an exposed web service: its targets, then prices, rules, sign-in, access and reports around them.

import {
  CROSS_ORIGIN,
  type CrossOriginHandler,
  type DirectlyHandled,
  type FetchFunction,
  type FetchHandler,
  lineOrPage,
  type TrafficRules,
} from '@svc/sdk-core'
import type { Gate } from '@svc/sdk-core/access'
import { withHandlerGlobals } from '../handler-globals.ts'
import type { HoldBefore } from '../hold/held.ts'
import type { SiteRecording } from '../recording/record.ts'
import { httpTarget } from '../target/http-target.ts'
import { reportingRequests } from '../target/request-reports.ts'
import { parseHttpTarget } from '../target/target-address.ts'
import type { ExposeOptions } from './options.ts'

/** What the site has of the handler's parts. */
interface Around {
  /** Who may come in. */
  gate?: Gate | undefined
  /** Keeps requests while a target is down. */
  hold?: HoldBefore | undefined
  recording?: SiteRecording | undefined
}

/**
 * Resolves with the handler. It loads the code for routes, prices, rules, sign-ins and webhooks only when needed.
 * @param relay the relay whose facilitator settles payments when the options name none
 * @param fetch the `fetch` for requests to that relay
 * @throws SvcError `invalid_option` or `payments_unavailable`
 */
export async function handlerOf(
  options: ExposeOptions,
  relay: URL,
  fetch: FetchFunction,
  { gate, hold, recording }: Around = {},
): Promise<DirectlyHandled> {
  const { paid, rules, walletOnly: wallets, webhooks, inspector, onRequest } = options
  const checks = webhooks && (await import('@svc/sdk-core/webhooks'))
  const verifier = checks && new checks.WebhookVerifier(webhooks)
  let handler = await targetsOf(options, hold)
  if (paid) {
    const { paidTarget } = await import('../target/paid-target.ts')
    // The time is that of the target alone: nobody pays for a response that would come too late.
    if (rules?.timeouts) handler = await ruled(handler, { timeouts: rules.timeouts })
    handler = await paidTarget(handler, paid, relay, fetch)
  }
  if (rules) handler = await ruled(handler, paid ? { ...rules, timeouts: undefined } : rules)
  // What goes around the handler from here on does not speak for it to pages of other origins.
  const crossOrigin = wallets ? undefined : (handler as CrossOriginHandler)[CROSS_ORIGIN]
  // Passwords and codes of those who may not come in are not recorded.
  if (inspector) handler = inspector.wrap(handler, { tunnel: options.name, verifier })
  if (wallets) {
    const { walletOnly } = await import('@svc/sdk-core/handlers')
    handler = walletOnly(handler, wallets)
  }
  if (recording) handler = recording.wrap(handler)
  if (gate) handler = gate.before(handler, crossOrigin)
  if (!verifier || !onRequest) return reportingRequests(onRequest, handler)
  const watching = checks.watchWebhooks(handler, verifier)
  return reportingRequests(onRequest, watching.handler, watching.verdictOf)
}

async function ruled(handler: DirectlyHandled, rules: TrafficRules): Promise<DirectlyHandled> {
  const { withRules } = await import('@svc/sdk-core/rules')
  return withRules(handler, rules)
}

async function targetsOf(options: ExposeOptions, hold: HoldBefore | undefined): Promise<FetchHandler> {
  const { http, fetch, routes, targetCa: ca, targetServerName: serverName, host } = options
  const target = { ca, serverName, host, hold, onError: options.onTargetError ?? (() => {}) }
  let rest: FetchHandler = nothingHere
  if (http !== undefined) rest = httpTarget(parseHttpTarget(http), target)
  else if (fetch) rest = withHandlerGlobals(fetch)
  if (!routes) return rest
  const { routeHandler } = await import('../target/routes.ts')
  return routeHandler(routes, rest, target)
}

/** Answers visitors of a lease that exists only for its ports. */
function nothingHere(request: Request): Response {
  return lineOrPage(request, 404, 'There is no web server here')
}
