// The traffic of a day as graphs, of the relay or of one site, and the same as a table.
import { HeadRow } from '../common/head-row.tsx'
import '../style/admin/table.css'
import type { HourTraffic } from '@svc/protocol'
import { formatBytes } from '../common/format.ts'
import { useMemo, type VNode } from '../preact.ts'
import { GRAPHS } from '../texts/admin.ts'
import { Graph } from './graph.tsx'

const SECOND_MS = 1000
/** What the axes reach where there is less, so that next to nothing does not look like much. */
export const LEAST_BYTES = 1000
const LEAST_VISITS = 4

export const formatCount = (value: number): string => value.toLocaleString('en')

export function TrafficGraphs({ hours }: { hours: readonly HourTraffic[] }): VNode {
  const newest = hours.at(-1)
  const { times, bytes, connections } = useMemo(
    () => ({
      times: hours.map(({ at }) => Date.parse(at) / SECOND_MS),
      bytes: [
        { label: GRAPHS.sent, color: '--accent', values: hours.map((hour) => hour.sent_bytes) },
        { label: GRAPHS.received, color: '--second', values: hours.map((hour) => hour.received_bytes) },
      ],
      connections: [
        { label: GRAPHS.connections, color: '--accent', values: hours.map((hour) => hour.connections) },
        { label: GRAPHS.visitors, color: '--second', values: hours.map((hour) => hour.visitors) },
      ],
    }),
    [newest?.at, newest?.sent_bytes, newest?.received_bytes, newest?.connections, newest?.visitors],
  )
  return (
    <>
      <div class="graphs">
        <Graph
          title={GRAPHS.dayTraffic}
          times={times}
          lines={bytes}
          least={LEAST_BYTES}
          format={formatBytes}
          isHourly
        />
        <Graph
          title={GRAPHS.dayVisits}
          times={times}
          lines={connections}
          least={LEAST_VISITS}
          format={formatCount}
          isHourly
        />
      </div>
      <details>
        <summary>{GRAPHS.asTable}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has nothing else to focus */}
        <section class="scroll" tabIndex={0} aria-label={GRAPHS.asTable}>
          <table class="plain-table">
            <HeadRow names={GRAPHS.columns} />
            <tbody>
              {hours.toReversed().map((hour) => (
                <tr key={hour.at}>
                  <th scope="row">{GRAPHS.hour(Date.parse(hour.at))}</th>
                  <td>{formatBytes(hour.sent_bytes)}</td>
                  <td>{formatBytes(hour.received_bytes)}</td>
                  <td>{formatCount(hour.connections)}</td>
                  <td>{formatCount(hour.visitors)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </>
  )
}
