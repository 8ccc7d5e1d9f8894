// The list of sites: the relay's public leases with a search, reloaded regularly.
import { type Lease, PATH, type PublicStateResponse } from '@svc/protocol'
import { callApi } from '../common/api.ts'
import { useEnsNames } from '../common/ens.ts'
import { loadPages, uniqueBy } from '../common/load-pages.ts'
import { usePoll } from '../common/poll.ts'
import { VirtualList } from '../common/virtual-list.tsx'
import { useMemo, useState, type VNode } from '../preact.ts'
import { Link } from '../shell/link.tsx'
import { COMMON } from '../texts/common.ts'
import { SITES } from '../texts/sites.ts'
import { commonTags, type Filter, filterSites } from './filter-sites.ts'
import { SiteRow } from './site-row.tsx'

const POLL_MS = 5000

async function loadState(): Promise<Lease[]> {
  const pages = await loadPages<PublicStateResponse>(PATH.state, callApi)
  const leases = pages.flatMap((page) => page.leases)
  return uniqueBy(leases, ({ hostname }) => hostname)
}

export function Sites(): VNode {
  const { data, error } = usePoll(loadState, POLL_MS)
  const [filter, setFilter] = useState<Filter>({ search: '', tags: [] })
  const hasEnsNames = useEnsNames()
  const leases = data ?? []
  const shown = useMemo(() => filterSites(leases, filter), [data, filter])
  const tags = useMemo(() => commonTags(leases, filter.tags), [data, filter.tags])
  const toggle = (tag: string): void => {
    const others = filter.tags.filter((one) => one !== tag)
    setFilter({ ...filter, tags: others.length < filter.tags.length ? others : [...others, tag] })
  }
  return (
    <main class="wide sites">
      <h1>
        {SITES.title}{' '}
        {hasEnsNames && (
          <span class="badge" title={SITES.ensTitle}>
            {SITES.ens}
          </span>
        )}
      </h1>
      <p class="quiet">{SITES.lead}</p>
      {error !== undefined && (
        <p class="notice" role="alert">
          {COMMON.unreachable}
        </p>
      )}
      <div class="filters">
        <label>
          {SITES.search}
          <input
            type="search"
            value={filter.search}
            onInput={(event) => setFilter({ ...filter, search: event.currentTarget.value })}
          />
        </label>
        <output class="quiet">
          {data === undefined ? COMMON.loading : SITES.count(shown.length, leases.length)}
        </output>
      </div>
      <Tags tags={tags} pressed={filter.tags} toggle={toggle} />
      {data !== undefined && shown.length === 0 && (
        <div class="nothing">
          <p class="quiet">{leases.length === 0 ? SITES.none : SITES.noMatch}</p>
          {leases.length === 0 && <Link to="/">{SITES.first}</Link>}
        </div>
      )}
      {shown.length > 0 && (
        <VirtualList name="sites-list" label={SITES.list} items={shown} keyOf={({ hostname }) => hostname}>
          {(lease) => <SiteRow lease={lease} />}
        </VirtualList>
      )}
    </main>
  )
}

interface TagsProps {
  tags: readonly string[]
  pressed: readonly string[]
  toggle(tag: string): void
}

function Tags({ tags, pressed, toggle }: TagsProps): VNode {
  return (
    <fieldset class="chips" aria-label={SITES.tags}>
      {tags.map((tag) => (
        <button
          key={tag}
          type="button"
          class="chip"
          aria-pressed={pressed.includes(tag)}
          onClick={() => toggle(tag)}
        >
          <bdi>{tag}</bdi>
        </button>
      ))}
    </fieldset>
  )
}
