// Formats numbers and times for readers.

const SECOND_MS = 1000
const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', SECOND_MS],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const absolute = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })
const clock = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hour12: false })

/** `3 min. ago`, `in 2 min.` */
export function formatAgo(time: string, now: number = Date.now()): string {
  const ms = Date.parse(time) - now
  const [unit, size] = UNITS.find(([, size]) => Math.abs(ms) >= size) ?? ['second', SECOND_MS]
  return relative.format(Math.round(ms / size), unit)
}

export function formatTime(time: string): string {
  return absolute.format(new Date(time))
}

export function formatClock(time: number): string {
  return clock.format(time)
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
const THOUSAND = 1000

/** Units are powers of 1000, as in the limits. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (Math.round(value) >= THOUSAND && unit < BYTE_UNITS.length - 1) {
    value /= THOUSAND
    unit += 1
  }
  const digits = unit > 0 && value < 10 ? 1 : 0
  return `${value.toFixed(digits)} ${BYTE_UNITS[unit]}`
}
