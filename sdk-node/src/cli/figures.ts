// The figures of a site in words, for people.

import type { SiteFigures } from './board.ts'

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

export function figuresLine(site: SiteFigures): string {
  const { state, rtt_ms: rtt, connections, bytes_in, bytes_out } = site
  return [
    state,
    ...(rtt === undefined ? [] : [`${rtt} ms`]),
    `${connections} ${connections === 1 ? 'connection' : 'connections'}`,
    `${bytes(bytes_in)} in`,
    `${bytes(bytes_out)} out`,
  ].join('  ')
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
