// Formats the figures of a site and its requests for people.

import type { AgentRequest, AgentWebhook, WaitingStatus } from '../../agent/api-messages.ts'
import type { FlowReport, HeldReport, SiteStatus } from './report.ts'

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

export function formatStats(site: SiteStatus): string {
  const { state, waiting, failure, rtt_ms: rtt, connections, bytes_in, bytes_out } = site
  if (failure) return `failed: ${failure.message}`
  return [
    waiting ? formatWaiting(waiting) : state,
    ...(rtt === undefined ? [] : [`${rtt} ms`]),
    `${connections} ${connections === 1 ? 'connection' : 'connections'}`,
    `${bytes(bytes_in)} in`,
    `${bytes(bytes_out)} out`,
  ].join('  ')
}

/** @param areSeveral whether the line must name its tunnel */
export function formatRequest(
  { tunnel, method, path = '', status, address, ms, webhook }: AgentRequest,
  areSeveral: boolean,
): string {
  const name = areSeveral && tunnel !== undefined ? `${tunnel}: ` : ''
  const from = address === undefined ? '' : `${address}  `
  const checked = webhook === undefined ? '' : `  ${formatWebhook(webhook)}`
  return `${status} ${String(Math.round(ms)).padStart(5)} ms  ${from}${name}${method} ${path}${checked}`
}

/** @returns the result, and the reason of a bad one */
function formatWebhook({ sender, result, reason }: AgentWebhook): string {
  return result === 'valid' ? `${sender}: valid` : `${sender}: ${result}: ${reason}`
}

/** @param areSeveral whether the line must name its tunnel */
export function formatFlow({ tunnel, address, port, local_port }: FlowReport, areSeveral: boolean): string {
  const name = areSeveral && tunnel !== undefined ? `${tunnel}: ` : ''
  const whole = address?.includes(':') ? `[${address}]` : address
  const from = port === undefined ? (address ?? 'a visitor') : `${whole}:${port}`
  return `udp  ${name}${from} comes from port ${local_port}`
}

/** @param areSeveral whether the line must name its tunnel */
export function formatHeld(
  { tunnel, state, method, path, status, waiting }: HeldReport,
  areSeveral: boolean,
): string {
  const name = areSeveral && tunnel !== undefined ? `${tunnel}: ` : ''
  const answer = state === 'delivered' ? ` with ${status ?? 'no answer'}` : ''
  return `held  ${name}${method} ${path} is ${state}${answer}, ${waiting} ${waiting === 1 ? 'waits' : 'wait'}`
}

/** @returns the reason why visitors cannot connect yet, and the time of the next attempt */
export function formatWaiting({ reason, until }: WaitingStatus): string {
  const time = until === undefined ? undefined : clock(until)
  if (reason === 'approval') return "waiting for the approval of the relay's operator"
  if (reason === 'rate_limited')
    return `waiting, as the relay asked${time === undefined ? '' : `, until ${time}`}`
  const what = reason === 'certificate' ? 'its certificate from the relay' : 'room at the relay'
  return `waiting for ${what}${time === undefined ? '' : `, which is asked again at ${time}`}`
}

/** @returns the expiry of a relay's copy, in this process's time zone */
export function until(time: string | undefined): string {
  if (time === undefined) return 'for a while'
  const end = new Date(time)
  const day = end.toDateString() === new Date().toDateString() ? '' : `${end.toLocaleDateString('sv-SE')} `
  return `until ${day}${clock(time)}`
}

/** @returns the time of day in this process's time zone */
export function clock(time: string): string {
  return new Date(time).toTimeString().slice(0, 8)
}

function bytes(count: number): string {
  let value = count
  let unit = 0
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`
}
