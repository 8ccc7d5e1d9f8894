// Shows the load as graphs: connections, bytes and sessions.
import { formatBytes } from '../common/format.ts'
import { useEffect, useRef, type VNode } from '../preact.ts'
import { DASHBOARD } from '../texts/admin.ts'
import { Chart, type Line } from './chart.ts'
import type { Sample } from './load-samples.ts'

const { charts, lines: names } = DASHBOARD
const plain = (value: number): string => (Number.isInteger(value) ? value.toLocaleString('en') : '')

export function Charts({ samples }: { samples: readonly Sample[] }): VNode {
  const times = samples.map(({ time }) => time)
  const line = (label: string, color: string, read: (sample: Sample) => number | null): Line => ({
    label,
    color,
    values: samples.map(read),
  })
  return (
    <div class="charts">
      <Figure
        title={charts.connections}
        times={times}
        format={plain}
        lines={[line(names.connections, '--accent', ({ load }) => load.visitor_connections)]}
      />
      <Figure
        title={charts.traffic}
        times={times}
        format={formatBytes}
        lines={[
          line(names.received, '--accent', ({ receivedRate }) => receivedRate),
          line(names.sent, '--second', ({ sentRate }) => sentRate),
        ]}
      />
      <Figure
        title={charts.sessions}
        times={times}
        format={plain}
        lines={[
          line(names.ready, '--accent', ({ load }) => load.ready_sessions),
          line(names.carriers, '--second', ({ load }) => load.carriers),
        ]}
      />
    </div>
  )
}

interface FigureProps {
  title: string
  times: number[]
  lines: readonly Line[]
  format(value: number): string
}

/** The caption has the newest value of each line, for screen readers and users without a pointer. */
function Figure({ title, times, lines, format }: FigureProps): VNode {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<Chart | undefined>(undefined)
  useEffect(() => {
    chart.current = new Chart(place.current!, lines, format)
    return () => chart.current?.close()
  }, [])
  useEffect(() => chart.current?.draw(times, lines))
  return (
    <figure>
      <figcaption>
        <strong>{title}</strong>
        {lines.map(({ label, color, values }) => (
          <span key={label} class="line" data-color={color}>
            {label} {format(values.at(-1) ?? 0)}
          </span>
        ))}
      </figcaption>
      <div ref={place} class="plot" aria-hidden="true" />
    </figure>
  )
}
