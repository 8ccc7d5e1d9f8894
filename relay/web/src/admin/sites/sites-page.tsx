// The table of all sites, with a search, a filter and actions on several.
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
  if (leases.length === 0) return <Nobody />
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
        <div class="empty">
          <p>{SITES.noMatch}</p>
          <button type="button" class="plain" onClick={() => choose({ search: '', filter: 'all' })}>
            {SITES.reset}
          </button>
        </div>
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

function Nobody(): VNode {
  return (
    <>
      <h1>{SITES.title}</h1>
      <section class="card empty" aria-labelledby="nobody-heading">
        <h2 id="nobody-heading">{SITES.none}</h2>
        <p class="quiet">{SITES.noneAbout}</p>
      </section>
    </>
  )
}
