// Formats the figures of a site and its requests for people.

import type { AgentRequest, AgentWebhook, WaitingStatus } from '../../agent/api-messages.ts'
import type { FlowReport, HeldReport, SiteStatus, VisitorReport } from './report.ts'

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
export function formatVisit(report: VisitorReport | HeldReport, areSeveral: boolean): string {
  if (report.event === 'request') return formatRequest(report, areSeveral)
  return report.event === 'flow' ? formatFlow(report, areSeveral) : formatHeld(report, areSeveral)
}

/** @param areSeveral whether the line must name its tunnel */
export function formatRequest(
  { tunnel, method, path = '', status, address, ms, webhook }: AgentRequest,
  areSeveral: boolean,
): string {
  const name = nameOf({ tunnel }, areSeveral)
  const from = address === undefined ? '' : `${address}  `
  const checked = webhook === undefined ? '' : `  ${formatWebhook(webhook)}`
  return `${status} ${String(Math.round(ms)).padStart(5)} ms  ${from}${name}${method} ${path}${checked}`
}

/** @returns the result, and the reason of a bad one */
function formatWebhook({ sender, result, reason }: AgentWebhook): string {
  return result === 'valid' ? `${sender}: valid` : `${sender}: ${result}: ${reason}`
}

function formatFlow({ tunnel, address, port, local_port }: FlowReport, areSeveral: boolean): string {
  const name = nameOf({ tunnel }, areSeveral)
  const whole = address?.includes(':') ? `[${address}]` : address
  const from = port === undefined ? (address ?? 'a visitor') : `${whole}:${port}`
  return `udp  ${name}${from} comes from port ${local_port}`
}

function formatHeld(
  { tunnel, state, method, path, status, waiting }: HeldReport,
  areSeveral: boolean,
): string {
  const name = nameOf({ tunnel }, areSeveral)
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
  return `until ${formatTime(time)}`
}

/** @returns the time, with its day unless that is today, in this process's time zone */
export function formatTime(time: string): string {
  const at = new Date(time)
  const day = at.toDateString() === new Date().toDateString() ? '' : `${at.toLocaleDateString('sv-SE')} `
  return `${day}${clock(time)}`
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

/** @returns the beginning of a line that has to name its tunnel */
export function nameOf({ tunnel }: { tunnel?: string | undefined }, isNamed: boolean): string {
  return isNamed && tunnel !== undefined ? `${tunnel}: ` : ''
}
