// The table of sites. Only the rows near the viewport are in the document.
import '../../style/admin/sites-table.css'
import type { LeaseTraffic, PolicyLease } from '@svc/protocol'
import { formatAgo, formatBytes, formatTime } from '../../common/format.ts'
import { useVisibleRows } from '../../common/visible-rows.ts'
import { useRef, type VNode } from '../../preact.ts'
import { Link } from '../../shell/link.tsx'
import { navigate } from '../../shell/routes.ts'
import { SITE_STATES, SITES } from '../../texts/admin.ts'
import { CopyText } from '../copy-text.tsx'
import { sitePath } from '../place.ts'
import { siteUrl, stateColor, stateOf } from './site-state.ts'
import { type Column, nextOrder, type Order } from './sort-sites.ts'

const COLUMNS = Object.keys(SITES.columns) as Column[]
/** Columns of traffic: numbers, which are aligned at their end. */
const NUMBERS: ReadonlySet<Column> = new Set(['visitors', 'rate', 'dayVisitors', 'dayBytes'])

interface SitesTableProps {
  /** False where the relay tells of no traffic. */
  hasTraffic: boolean
  sites: readonly PolicyLease[]
  order: Order
  setOrder(order: Order): void
  /** Identity keys. */
  selected: ReadonlySet<string>
  select(selected: ReadonlySet<string>): void
}

export function SitesTable({ hasTraffic, sites, order, setOrder, selected, select }: SitesTableProps): VNode {
  const body = useRef<HTMLTableSectionElement>(null)
  const { first, end, before, after } = useVisibleRows(body, 'tr.site-row', sites.length)
  const areAll = sites.every(({ identity_key }) => selected.has(identity_key))
  const toggle = (key: string): void => {
    const next = new Set(selected)
    if (!next.delete(key)) next.add(key)
    select(next)
  }
  const toggleAll = (): void =>
    select(areAll ? new Set() : new Set(sites.map(({ identity_key }) => identity_key)))
  return (
    <table class="sites-table" aria-label={SITES.title} aria-rowcount={sites.length + 1}>
      <thead>
        <tr aria-rowindex={1}>
          <td class="pick">
            <input type="checkbox" aria-label={SITES.selectAll} checked={areAll} onChange={toggleAll} />
          </td>
          {COLUMNS.filter((column) => hasTraffic || !NUMBERS.has(column)).map((column) => (
            <Header key={column} column={column} order={order} setOrder={setOrder} />
          ))}
          <td class="col-open" />
        </tr>
      </thead>
      <tbody ref={body}>
        <Gap height={before} />
        {sites.slice(first, end).map((lease, index) => (
          <Row
            key={lease.identity_key}
            lease={lease}
            hasTraffic={hasTraffic}
            index={first + index + 2}
            isSelected={selected.has(lease.identity_key)}
            toggle={() => toggle(lease.identity_key)}
          />
        ))}
        <Gap height={after} />
      </tbody>
    </table>
  )
}

/** The place of the rows that are not in the document. */
function Gap({ height }: { height: number }): VNode {
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it can be focused
  return <tr class="gap" aria-hidden="true" hidden={height === 0} style={{ height: `${height}px` }} />
}

interface HeaderProps {
  column: Column
  order: Order
  setOrder(order: Order): void
}

function Header({ column, order, setOrder }: HeaderProps): VNode {
  const isSorted = order.column === column
  return (
    <th
      scope="col"
      class={`col-${column}${NUMBERS.has(column) ? ' number' : ''}`}
      {...(isSorted && {
        'aria-sort': order.isDescending ? ('descending' as const) : ('ascending' as const),
      })}
    >
      <button type="button" class="sort" onClick={() => setOrder(nextOrder(order, column))}>
        {SITES.columns[column]}
        <span class="arrow" aria-hidden="true">
          {isSorted ? (order.isDescending ? '↓' : '↑') : ''}
        </span>
      </button>
    </th>
  )
}

interface RowProps {
  lease: PolicyLease
  hasTraffic: boolean
  /** Position in the whole table, counted from 1. */
  index: number
  isSelected: boolean
  toggle(): void
}

function Row({ lease, hasTraffic, index, isSelected, toggle }: RowProps): VNode {
  const { identity_key, name, hostname, traffic, first_seen_at } = lease
  const state = stateOf(lease)
  /** A press anywhere else than on a link or a button opens the site's page. */
  const open = (event: MouseEvent): void => {
    const isOther = (event.target as Element).closest('a, button, input, label') !== null
    if (!isOther && getSelection()?.isCollapsed !== false) navigate(sitePath(identity_key))
  }
  return (
    <tr class="site-row" aria-rowindex={index} data-selected={isSelected} onClick={open}>
      <td class="pick">
        <input type="checkbox" aria-label={SITES.select(name)} checked={isSelected} onChange={toggle} />
      </td>
      <th scope="row" class="col-name">
        <a
          href={siteUrl(hostname)}
          target="_blank"
          rel="noopener noreferrer ugc"
          title={SITES.opens(hostname)}
        >
          <b>{name}</b>
          <span class="quiet">{hostname.slice(name.length)}</span>
        </a>
        {/* On a phone, where the column of states is left out. */}
        <span class="sub" data-state={stateColor(state)}>
          {SITE_STATES[state]}
        </span>
      </th>
      <td class="col-state">
        <span class="state" data-state={stateColor(state)}>
          {SITE_STATES[state]}
        </span>
      </td>
      <td class="col-owner">
        <CopyText text={lease.address} label={SITES.copyAddress(name)} />
      </td>
      <td class="col-client" title={lease.client_ip}>
        {lease.client_ip}
      </td>
      {hasTraffic && <Traffic traffic={traffic} />}
      <td class="col-since">
        <time dateTime={first_seen_at} title={formatTime(first_seen_at)}>
          {formatAgo(first_seen_at)}
        </time>
      </td>
      <td class="col-open">
        <Link to={sitePath(identity_key)} label={SITES.details(name)}>
          {SITES.open}
        </Link>
      </td>
    </tr>
  )
}

/** @param traffic undefined when nobody came within a day */
function Traffic({ traffic }: { traffic: LeaseTraffic | undefined }): VNode {
  const rate = (traffic?.received_bps ?? 0) + (traffic?.sent_bps ?? 0)
  return (
    <>
      <td class="col-visitors number">{(traffic?.open_connections ?? 0).toLocaleString('en')}</td>
      <td class="col-rate number">{rate === 0 ? SITES.idle : SITES.rate(formatBytes(rate))}</td>
      <td class="col-dayVisitors number">{(traffic?.day.visitors ?? 0).toLocaleString('en')}</td>
      <td class="col-dayBytes number">
        {formatBytes((traffic?.day.received_bytes ?? 0) + (traffic?.day.sent_bytes ?? 0))}
      </td>
    </>
  )
}
