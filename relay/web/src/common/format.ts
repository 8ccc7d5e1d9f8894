// Formats numbers and times for readers.

const SECOND_MS = 1000
const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', SECOND_MS],
]
/** In the language of the page, which is known before the first text is shown. All texts have Latin digits. */
const formatters = once(() => {
  const locale = `${globalThis.document?.documentElement.lang || 'en'}-u-nu-latn`
  return {
    relative: new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }),
    absolute: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }),
    clock: new Intl.DateTimeFormat(locale, { timeStyle: 'medium', hour12: false }),
    whole: new Intl.NumberFormat(locale, { maximumFractionDigits: 0, useGrouping: false }),
    tenths: new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
  }
})

/** `3 min. ago`, `in 2 min.` */
export function formatAgo(time: string, now: number = Date.now()): string {
  const ms = Date.parse(time) - now
  const [unit, size] = UNITS.find(([, size]) => Math.abs(ms) >= size) ?? ['second', SECOND_MS]
  return formatters().relative.format(Math.round(ms / size), unit)
}

export function formatTime(time: string): string {
  return formatters().absolute.format(new Date(time))
}

export function formatClock(time: number): string {
  return formatters().clock.format(time)
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
  const { tenths, whole } = formatters()
  return `${(unit > 0 && value < 10 ? tenths : whole).format(value)} ${BYTE_UNITS[unit]}`
}

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
