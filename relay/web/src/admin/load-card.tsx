// Shows the relay's load: the numbers at once, the graphs when their code is loaded.
import { formatBytes } from '../common/format.ts'
import { useEffect, useRef, useState, type VNode } from '../preact.ts'
import { DASHBOARD } from '../texts/admin.ts'
import type { DashboardData } from './dashboard-data.ts'
import { addSample, type Sample } from './load-samples.ts'

type Graphs = (props: { samples: readonly Sample[] }) => VNode

const { numbers } = DASHBOARD

export function LoadCard({ load, at }: DashboardData): VNode {
  const samples = useRef<readonly Sample[]>([])
  if (samples.current.at(-1)?.time !== at / 1000) samples.current = addSample(samples.current, load, at)
  return (
    <section class="card" aria-labelledby="load-heading">
      <h2 id="load-heading">{DASHBOARD.load}</h2>
      <dl class="numbers">
        <Figure name={numbers.leases} value={load.leases.toLocaleString('en')} />
        <Figure name={numbers.connections} value={load.visitor_connections.toLocaleString('en')} />
        <Figure name={numbers.ready} value={load.ready_sessions.toLocaleString('en')} />
        <Figure name={numbers.carriers} value={load.carriers.toLocaleString('en')} />
        <Figure name={numbers.received} value={formatBytes(load.visitor_received_bytes)} />
        <Figure name={numbers.sent} value={formatBytes(load.visitor_sent_bytes)} />
      </dl>
      <LazyGraphs samples={samples.current} />
    </section>
  )
}

function Figure({ name, value }: { name: string; value: string }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function LazyGraphs({ samples }: { samples: readonly Sample[] }): VNode {
  const [Graphs, setGraphs] = useState<Graphs | undefined>(undefined)
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    import('./charts.tsx').then(
      ({ Charts }) => setGraphs(() => Charts),
      () => setFailed(true),
    )
  }, [])
  if (failed) return <p class="quiet">{DASHBOARD.notLoaded}</p>
  return <div class="graphs">{Graphs !== undefined && <Graphs samples={samples} />}</div>
}
