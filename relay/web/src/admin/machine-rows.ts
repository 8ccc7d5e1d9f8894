// Converts the machines of a relay for the table: in a fixed order, and without figures for machines that have none any longer.
import type { AdminMachine } from '@svc/protocol'
import { formatBytes } from '../common/format.ts'
import { sanitizeText } from '../common/sanitize-text.ts'
import { MACHINES } from '../texts/admin.ts'

export interface MachineRow {
  key: string
  address: string
  /** True for the machine that answered the page. */
  isThis: boolean
  state: AdminMachine['state']
  /** Color of the state. */
  color: 'online' | 'wrong' | ''
  /** Each column's name and text. */
  cells: readonly (readonly [name: string, text: string])[]
  seenAt: string
}

const COLORS = { online: 'online', draining: '', unreachable: 'wrong', gone: '' } as const
const { columns } = MACHINES

/** @returns the rows by address, because each answer may come from another machine */
export function machineRows(machines: readonly AdminMachine[]): MachineRow[] {
  return machines
    .map(machineRow)
    .sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
}

function machineRow(machine: AdminMachine): MachineRow {
  const { address, state, started_at, release_version } = machine
  const figure = (text: string): string => (state === 'gone' ? MACHINES.none : text)
  return {
    // A restarted machine is a new one at the same address.
    key: `${address} ${started_at}`,
    address: sanitizeText(address),
    isThis: machine.is_this,
    state,
    color: COLORS[state],
    cells: [
      [columns.version, sanitizeText(release_version)],
      [columns.carriers, figure(machine.carriers.toLocaleString('en'))],
      [columns.visitors, figure(machine.visitor_connections.toLocaleString('en'))],
      [columns.received, figure(formatBytes(machine.visitor_received_bytes))],
      [columns.sent, figure(formatBytes(machine.visitor_sent_bytes))],
    ],
    seenAt: machine.seen_at,
  }
}
