// The table of all sites, with a search, a filter and actions on several.
import type { PolicyLease } from '@svc/protocol'
import { Store, useStore } from '../../common/store.ts'
import { useKeys } from '../../common/use-keys.ts'
import { useMemo, useRef, useState, type VNode } from '../../preact.ts'
import { SITES } from '../../texts/admin.ts'
import { ManyActions } from '../access/many-actions.tsx'
import type { PageProps } from '../page-props.ts'
import { SitesTable } from './sites-table.tsx'
import { filterSites, type Order, type SiteFilter, sortSites } from './sort-sites.ts'

interface Chosen {
  search: string
  filter: SiteFilter
  order: Order
}

/** Outside the page, so that who comes back from a site finds the table as it was. */
const chosen: Store<Chosen> = new Store<Chosen>({
  search: '',
  filter: 'all',
  order: { column: 'since', isDescending: true },
})

const FILTERS = Object.keys(SITES.filters) as SiteFilter[]

export function SitesPage({ view, act }: PageProps<'leases' | 'decisions'>): VNode {
  const { leases, decisions } = view
  const { search, filter, order } = useStore(chosen)
  const choose = (change: Partial<Chosen>): void => chosen.set({ ...chosen.value, ...change })
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const field = useRef<HTMLInputElement>(null)
  const shown = useMemo(
    () => sortSites(filterSites(leases, filter, search), order),
    [leases, filter, search, order],
  )
  useKeys({ '/': () => field.current?.focus() })
  // What is filtered out is not acted upon.
  const acted = shown.filter(({ identity_key }) => selected.has(identity_key))
  return (
    <>
      <div class="heading">
        <h1>{SITES.title}</h1>
        <output class="quiet">{SITES.count(shown.length, leases.length)}</output>
      </div>
      <div class="filters">
        <label>
          {SITES.search} <kbd>/</kbd>
          <input
            ref={field}
            type="search"
            aria-label={SITES.search}
            value={search}
            onInput={(event) => choose({ search: event.currentTarget.value })}
          />
        </label>
        <label>
          {SITES.show}
          <select
            value={filter}
            onChange={(event) => choose({ filter: event.currentTarget.value as SiteFilter })}
          >
            {FILTERS.map((one) => (
              <option key={one} value={one}>
                {SITES.filters[one]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <ManyActions
        selected={acted}
        decisions={decisions}
        act={act}
        clear={() => setSelected(new Set())}
        hint={SITES.selectHint}
      />
      {shown.length === 0 ? (
        <Empty all={leases} reset={() => choose({ search: '', filter: 'all' })} />
      ) : (
        <SitesTable
          hasTraffic={view.load.traffic !== undefined}
          sites={shown}
          order={order}
          setOrder={(next) => choose({ order: next })}
          selected={selected}
          select={setSelected}
        />
      )}
    </>
  )
}

function Empty({ all, reset }: { all: readonly PolicyLease[]; reset(): void }): VNode {
  return (
    <div class="empty">
      <p>{all.length === 0 ? SITES.none : SITES.noMatch}</p>
      {all.length === 0 ? (
        <p class="quiet">{SITES.noneAbout}</p>
      ) : (
        <button type="button" class="plain" onClick={reset}>
          {SITES.reset}
        </button>
      )}
    </div>
  )
}
