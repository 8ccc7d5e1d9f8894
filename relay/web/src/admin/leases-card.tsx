// Lists the leases with a search, each with its status under the policy.
import type { PolicyLease } from '@svc/protocol'
import { VirtualList } from '../common/virtual-list.tsx'
import { useMemo, useState, type VNode } from '../preact.ts'
import { ACTIONS, DONE, LEASES } from '../texts/admin.ts'
import { type ChangeRequest, leaseChange } from './change-request.ts'
import type { DashboardData } from './dashboard-data.ts'
import { filterLeases, type LeaseFilter, statusOf } from './filter-leases.ts'
import { LeaseDialog } from './lease-dialog.tsx'

const FILTERS = Object.keys(LEASES.filters) as LeaseFilter[]

interface LeasesCardProps {
  view: DashboardData
  act(change: ChangeRequest): Promise<void>
}

export function LeasesCard({ view, act }: LeasesCardProps): VNode {
  const { leases, decisions } = view
  const [search, setSearch] = useState('')
  const [filter, setFilter] = useState<LeaseFilter>('all')
  const [opened, setOpened] = useState<PolicyLease | undefined>(undefined)
  const shown = useMemo(() => filterLeases(leases, filter, search), [leases, filter, search])
  const approve = (lease: PolicyLease): Promise<void> =>
    act(
      leaseChange(
        { identity_key: lease.identity_key, is_approved: true },
        decisions,
        DONE.approved(lease.name),
      ),
    )
  return (
    <section class="card leases" aria-labelledby="leases-heading">
      <h2 id="leases-heading">
        {LEASES.title} <output class="quiet">{LEASES.count(shown.length, leases.length)}</output>
      </h2>
      <div class="filters">
        <label>
          {LEASES.search}
          <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        </label>
        <label>
          {LEASES.show}
          <select value={filter} onChange={(event) => setFilter(event.currentTarget.value as LeaseFilter)}>
            {FILTERS.map((one) => (
              <option key={one} value={one}>
                {LEASES.filters[one]}
              </option>
            ))}
          </select>
        </label>
      </div>
      {shown.length === 0 ? (
        <p class="quiet">{LEASES.none}</p>
      ) : (
        <VirtualList
          name="leases-list"
          label={LEASES.list}
          items={shown}
          keyOf={({ identity_key }) => identity_key}
        >
          {(lease) => <LeaseRow lease={lease} open={() => setOpened(lease)} approve={() => approve(lease)} />}
        </VirtualList>
      )}
      {opened !== undefined && (
        <LeaseDialog opened={opened} view={view} act={act} onClose={() => setOpened(undefined)} />
      )}
    </section>
  )
}

interface LeaseRowProps {
  lease: PolicyLease
  open(): void
  approve(): void
}

function LeaseRow({ lease, open, approve }: LeaseRowProps): VNode {
  const status = statusOf(lease)
  const isBlocked = status !== 'routed' && status !== 'waiting'
  return (
    <div class="lease">
      <div class="what">
        <strong>{lease.hostname}</strong>
        <span class="quiet">
          {lease.client_ip} · {lease.address}
        </span>
      </div>
      <span class="state" data-state={isBlocked ? 'wrong' : status === 'routed' ? 'online' : ''}>
        {LEASES.status[status]}
      </span>
      {status === 'waiting' && (
        <button type="button" aria-label={`${ACTIONS.approve}: ${lease.name}`} onClick={approve}>
          {ACTIONS.approve}
        </button>
      )}
      <button type="button" class="plain" aria-label={LEASES.details(lease.name)} onClick={open}>
        {LEASES.open}
      </button>
    </div>
  )
}
