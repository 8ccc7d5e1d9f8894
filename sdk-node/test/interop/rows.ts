// Rows of QUIC peers, beside those of the TLS matrix: each in both roles.

import type { Row } from '../../../tls/test/interop/matrix.ts'
import type { Peer } from './peers.ts'
import { ROLES, type Role } from './roles.ts'

export type PeerRow = Row<Role>

/** Runs the peers one after the other: each has a relay. */
export async function runPeers(wanted: readonly Peer[], onRow: (row: PeerRow) => void): Promise<PeerRow[]> {
  const rows: PeerRow[] = []
  for (const peer of wanted) {
    const row = await runPeer(peer)
    rows.push(row)
    onRow(row)
  }
  return rows
}

async function runPeer({ name, install, find }: Peer): Promise<PeerRow> {
  const found = await find(true)
  const row: PeerRow = { client: name, version: found?.version, install, cells: {} }
  if (found === undefined) return row
  for (const [role, play] of Object.entries(ROLES) as [Role, (typeof ROLES)[Role]][])
    row.cells[role] = await play(found).then(
      () => ({ status: 'passed' }),
      (error: Error) => ({ status: 'failed', error: error.message }),
    )
  return row
}
