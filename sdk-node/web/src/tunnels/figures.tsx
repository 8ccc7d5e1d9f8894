// The figures of all tunnels together.

import { formatBytes } from '@svc/relay-web/common/format.ts'
import type { VNode } from '@svc/relay-web/preact.ts'
import type { TunnelStatus } from '../../../src/agent/api-messages.ts'
import { FIGURES } from '../texts/texts.ts'
import { isOnline } from './tunnel-state.ts'

export function Figures({ tunnels }: { tunnels: readonly TunnelStatus[] }): VNode {
  const relays = tunnels.flatMap((tunnel) => tunnel.relays)
  const sum = (field: 'connections' | 'bytes_in' | 'bytes_out'): number =>
    relays.reduce((total, relay) => total + relay[field], 0)
  return (
    <dl class="numbers card">
      <Figure name={FIGURES.online} value={`${tunnels.filter(isOnline).length} / ${tunnels.length}`} />
      <Figure name={FIGURES.connections} value={sum('connections').toLocaleString('en')} />
      <Figure name={FIGURES.received} value={formatBytes(sum('bytes_in'))} />
      <Figure name={FIGURES.sent} value={formatBytes(sum('bytes_out'))} />
    </dl>
  )
}

export function Figure({ name, value }: { name: string; value: string }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
