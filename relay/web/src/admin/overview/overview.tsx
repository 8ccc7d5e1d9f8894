// What an operator asks first: what runs now and ran within a day, what waits for a decision, and what is wrong.
import '../../style/admin/overview.css'
import type { PolicyLease, RelayTraffic } from '@svc/protocol'
import { formatAgo, formatBytes, formatTime } from '../../common/format.ts'
import { type ComponentChildren, useMemo, useRef, type VNode } from '../../preact.ts'
import { Link } from '../../shell/link.tsx'
import { GRAPHS, OVERVIEW, SECTIONS } from '../../texts/admin.ts'
import { Graph } from '../graph.tsx'
import type { PageProps } from '../page-props.ts'
import { pathOf, sitePath } from '../place.ts'
import { stateOf } from '../sites/site-state.ts'
import { sortSites } from '../sites/sort-sites.ts'
import { formatCount, LEAST_BYTES, TrafficGraphs } from '../traffic-graphs.tsx'
import { addSample, type Sample } from './load-samples.ts'
import { type Problem, problemsOf } from './problems.ts'

type Props = PageProps<'leases' | 'certificates'>

/** Sites in a list. */
const TOP = 5

export function Overview({ view }: Props): VNode {
  const { leases } = view
  const online = useMemo(() => leases.filter((lease) => stateOf(lease) === 'online').length, [leases])
  const problems = problemsOf(view)
  return (
    <>
      <h1>{OVERVIEW.title}</h1>
      <Tiles view={view} online={online} />
      <Attention problems={problems} />
      <Graphs view={view} />
      <div class="columns">
        <SiteList
          id="busiest"
          title={OVERVIEW.busiest}
          none={OVERVIEW.noneBusy}
          sites={sortSites(leases, { column: 'dayBytes', isDescending: true })
            .filter(({ traffic }) => traffic !== undefined)
            .slice(0, TOP)}
        >
          {({ traffic }) => formatBytes((traffic?.day.received_bytes ?? 0) + (traffic?.day.sent_bytes ?? 0))}
        </SiteList>
        <SiteList
          id="newest"
          title={OVERVIEW.newest}
          none={OVERVIEW.none}
          sites={sortSites(leases, { column: 'since', isDescending: true }).slice(0, TOP)}
        >
          {({ first_seen_at }) => (
            <time dateTime={first_seen_at} title={formatTime(first_seen_at)}>
              {formatAgo(first_seen_at)}
            </time>
          )}
        </SiteList>
      </div>
    </>
  )
}

function Tiles({ view: { load }, online }: Pick<Props, 'view'> & { online: number }): VNode {
  const { traffic } = load
  return (
    <dl class="tiles five">
      <Tile name={OVERVIEW.online} to={pathOf('sites')}>
        {formatCount(online)}
        <small>{OVERVIEW.of(load.leases)}</small>
      </Tile>
      <Tile name={OVERVIEW.connections}>
        {formatCount(load.visitor_connections)}
        <small>{OVERVIEW.ready(load.ready_sessions)}</small>
      </Tile>
      {traffic !== undefined && <TrafficTiles traffic={traffic} />}
    </dl>
  )
}

function TrafficTiles({ traffic: { received_bps, sent_bps, day } }: { traffic: RelayTraffic }): VNode {
  const rate = (bytes: number): string => OVERVIEW.rate(formatBytes(bytes))
  return (
    <>
      <Tile name={OVERVIEW.now}>
        {rate(received_bps + sent_bps)}
        <small>{OVERVIEW.directions(rate(sent_bps), rate(received_bps))}</small>
      </Tile>
      <Tile name={OVERVIEW.dayVisitors}>
        {OVERVIEW.about(formatCount(day.visitors))}
        <small>{OVERVIEW.visits(day.connections)}</small>
      </Tile>
      <Tile name={OVERVIEW.dayTraffic}>
        {formatBytes(day.received_bytes + day.sent_bytes)}
        <small>{OVERVIEW.directions(formatBytes(day.sent_bytes), formatBytes(day.received_bytes))}</small>
      </Tile>
    </>
  )
}

interface TileProps {
  name: string
  /** Where more about it is. */
  to?: string
  children: ComponentChildren
}

function Tile({ name, to, children }: TileProps): VNode {
  return (
    <div>
      <dt>{to === undefined ? name : <Link to={to}>{name}</Link>}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Attention({ problems }: { problems: readonly Problem[] }): VNode {
  return (
    <section class="card attention" aria-labelledby="attention-heading" data-quiet={problems.length === 0}>
      <h2 id="attention-heading">{problems.length === 0 ? OVERVIEW.allWell : OVERVIEW.attention}</h2>
      {problems.length > 0 && (
        <ul class="lines">
          {problems.map(({ section, text, isWrong }) => (
            <li key={text} data-wrong={isWrong}>
              <bdi>{text}</bdi>
              <Link to={pathOf(section)}>{SECTIONS[section]}</Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Graphs({ view: { load, at } }: Pick<Props, 'view'>): VNode {
  const samples = useRef<readonly Sample[]>([])
  if (samples.current.at(-1)?.time !== at / 1000) samples.current = addSample(samples.current, load, at)
  const { current } = samples
  const lines = useMemo(
    () => [
      { label: GRAPHS.sent, color: '--accent', values: current.map(({ sentRate }) => sentRate) },
      { label: GRAPHS.received, color: '--second', values: current.map(({ receivedRate }) => receivedRate) },
    ],
    [current],
  )
  return (
    <section class="card" aria-labelledby="load-heading">
      <h2 id="load-heading">{OVERVIEW.load}</h2>
      <Graph
        title={GRAPHS.now}
        times={current.map(({ time }) => time)}
        lines={lines}
        least={LEAST_BYTES}
        format={(value) => OVERVIEW.rate(formatBytes(value))}
      />
      {load.traffic !== undefined && <TrafficGraphs hours={load.traffic.hours} />}
    </section>
  )
}

interface SiteListProps {
  id: string
  title: string
  none: string
  sites: readonly PolicyLease[]
  children(lease: PolicyLease): ComponentChildren
}

function SiteList({ id, title, none, sites, children }: SiteListProps): VNode {
  return (
    <section class="card" aria-labelledby={`${id}-heading`}>
      <h2 id={`${id}-heading`}>{title}</h2>
      {sites.length === 0 ? (
        <p class="quiet">{none}</p>
      ) : (
        <ul class="lines">
          {sites.map((lease) => (
            <li key={lease.identity_key}>
              <span>
                <Link to={sitePath(lease.identity_key)}>{lease.name}</Link>
              </span>
              <span class="quiet">{children(lease)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
