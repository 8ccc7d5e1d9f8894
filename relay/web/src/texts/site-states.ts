// Texts for the states of a site, on the pages of the relay and of the local agent: a word for each state, and a sentence
// for each reason why visitors cannot connect.
import type { SiteState, WaitingReason } from '@svc/sdk-browser'
import { translatable } from './translate.ts'

export const SITE_STATES: Readonly<Record<SiteState, string>> = {
  connecting: 'connecting',
  waiting: 'waiting',
  online: 'online',
  reconnecting: 'reconnecting',
  closed: 'closed',
}

export const WAITING: Readonly<Record<WaitingReason, string>> & { next(time: string): string } = {
  approval: 'The relay’s operator has to approve this site first.',
  rate_limited: 'The relay asked this site to wait.',
  relay_full: 'The relay is full at the moment.',
  certificate: 'The site waits for its certificate.',
  next: (time) => ` (next attempt ${time})`,
}

/** @param next when the SDK asks again, as in `at 12:00:00` or `in 5 s`; undefined when unknown */
export function waitingText(reason: WaitingReason, next: string | undefined): string {
  return WAITING[reason] + (next === undefined ? '' : WAITING.next(next))
}

/** For the state `reconnecting`. */
export const RELAY_GONE = 'Visitors cannot connect: the relay does not answer. The site keeps trying.'

translatable('SITE_STATES', SITE_STATES)
translatable('WAITING', WAITING)
