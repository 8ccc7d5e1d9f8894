// The lines of `svc doctor`: an address for each finding, and below it what was found and what to do.

import { type DoctorReport, HEALTHY_VERDICTS } from './report.ts'
import { wrap } from './wrap.ts'

/** Columns of the narrowest common terminal. */
const COLUMNS = 80

export function formatDoctor({ url, verdict, message, certificate, advice }: DoctorReport): string {
  const mark = HEALTHY_VERDICTS.has(verdict) ? '✓' : '✗'
  const found = [message, certificate].filter((part) => part !== undefined)
  return [
    `${mark} ${url}`,
    ...found.map((part) => wrap(`  ${part}`, COLUMNS)),
    ...(advice === undefined ? [] : [wrap(`  → ${advice}`, COLUMNS, '  ')]),
  ].join('\n')
}
