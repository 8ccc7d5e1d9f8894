// A graph with its title, the values at the pointer or the newest ones, and the same as text for those who do not see it.
import '../style/admin/graphs.css'
import { formatClock } from '../common/format.ts'
import { useEffect, useRef, useState, type VNode } from '../preact.ts'
import { GRAPHS } from '../texts/admin.ts'
import type { Chart, Line } from './chart.ts'

export interface GraphProps {
  title: string
  /** In seconds since the epoch, the oldest first. */
  times: readonly number[]
  lines: readonly Line[]
  isHourly?: boolean
  /** The axis of values reaches at least to this one. */
  least: number
  format(value: number): string
}

const SECOND_MS = 1000

export function Graph({ title, times, lines, isHourly = false, least, format }: GraphProps): VNode {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<Chart | undefined>(undefined)
  const [point, setPoint] = useState<number | undefined>(undefined)
  const [hasFailed, setFailed] = useState(false)
  const latest = useRef({ times, lines })
  latest.current = { times, lines }
  useEffect(() => {
    let hasEnded = false
    import('./chart.ts').then(
      ({ Chart }) => {
        if (hasEnded || place.current === null) return
        chart.current = new Chart(place.current, lines, { isHourly, least, format, onPoint: setPoint })
        chart.current.draw(latest.current.times, latest.current.lines)
      },
      () => setFailed(true),
    )
    return () => {
      hasEnded = true
      chart.current?.close()
    }
  }, [])
  useEffect(() => chart.current?.draw(times, lines), [times.at(-1), times.length, lines])
  const at = point ?? times.length - 1
  const time = times[at]
  return (
    <figure class="graph">
      <figcaption>
        <strong>{title}</strong>
        {lines.map(({ label, color, values }) => (
          <span key={label} class="line" data-color={color}>
            {label} <b>{format(values[at] ?? 0)}</b>
          </span>
        ))}
        <span class="quiet at">
          {point === undefined || time === undefined
            ? ''
            : isHourly
              ? GRAPHS.hour(time * SECOND_MS)
              : formatClock(time * SECOND_MS)}
        </span>
      </figcaption>
      <div ref={place} class="plot" role="img" aria-label={`${title}. ${summary({ times, lines, format })}`}>
        {hasFailed && <p class="quiet">{GRAPHS.notLoaded}</p>}
      </div>
    </figure>
  )
}

/** The largest and the newest value of each line. */
export function summary({ times, lines, format }: Pick<GraphProps, 'times' | 'lines' | 'format'>): string {
  return lines
    .map(({ label, values }) => {
      const known = values.map((value) => value ?? 0)
      const most = Math.max(0, ...known)
      const when = times[known.indexOf(most)]
      return most === 0 || when === undefined
        ? GRAPHS.nothing(label)
        : GRAPHS.most(label, format(most), when * SECOND_MS, format(known.at(-1) ?? 0))
    })
    .join(' ')
}
