// Shows the machines of a relay that runs on several.
import { HeadRow } from '../common/head-row.tsx'
import '../style/admin/machines.css'
import type { AdminMachine } from '@svc/protocol'
import { formatAgo, formatTime } from '../common/format.ts'
import type { VNode } from '../preact.ts'
import { MACHINES, SECTIONS } from '../texts/admin.ts'
import { type MachineRow, machineRows } from './machine-rows.ts'
import type { PageProps } from './page-props.ts'

const { columns } = MACHINES

export function MachinesPage({ view }: PageProps): VNode {
  return (
    <>
      <h1>{SECTIONS.machines}</h1>
      <MachinesCard machines={view.load.machines ?? []} />
    </>
  )
}

function MachinesCard({ machines }: { machines: readonly AdminMachine[] }): VNode {
  // A machine that is gone may have been removed for good.
  const present = machines.filter(({ state }) => state !== 'gone')
  const online = present.filter(({ state }) => state === 'online').length
  return (
    <section class="card" aria-labelledby="machines-heading">
      <h2 id="machines-heading">
        {MACHINES.title} <output class="quiet">{MACHINES.count(online, present.length)}</output>
      </h2>
      <p class="quiet">{MACHINES.about}</p>
      <table class="machines" aria-labelledby="machines-heading">
        <HeadRow names={Object.values(columns)} />
        <tbody>
          {machineRows(machines).map((row) => (
            <Row key={row.key} row={row} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Each cell has the name of its column, which phones show before it. */
function Row({ row: { address, isThis, state, color, cells, seenAt } }: { row: MachineRow }): VNode {
  return (
    <tr>
      <th scope="row">
        <bdi>{address}</bdi> {isThis && <span class="quiet">{MACHINES.isThis}</span>}
      </th>
      <td data-name={columns.state}>
        <span class="state" data-state={color} title={MACHINES.states[state].about}>
          {MACHINES.states[state].name}
        </span>
      </td>
      {cells.map(([name, text]) => (
        <td key={name} data-name={name}>
          <bdi>{text}</bdi>
        </td>
      ))}
      <td data-name={columns.seen}>
        <time dateTime={seenAt} title={formatTime(seenAt)}>
          {formatAgo(seenAt)}
        </time>
      </td>
    </tr>
  )
}
