// The frame of the administration's pages: the sections, what is wrong with the relay, and the page itself. Data are loaded
// again regularly, so that administrators see each other's changes.
import { Confirm } from '../common/confirm.tsx'
import { usePoll } from '../common/poll.ts'
import { useStore } from '../common/store.ts'
import { useEffect, useMemo, useRef, useState, type VNode } from '../preact.ts'
import { Link } from '../shell/link.tsx'
import { path } from '../shell/routes.ts'
import { DASHBOARD, SECTIONS } from '../texts/admin.ts'
import { COMMON } from '../texts/common.ts'
import { AdminData, type Part, type Parts } from './admin-data.ts'
import { applyChange } from './apply-change.ts'
import { BanDialog } from './ban-dialog.tsx'
import type { ChangeRequest } from './change-request.ts'
import { LastChangeMessage } from './last-change-message.tsx'
import { Navigation } from './navigation.tsx'
import type { Page } from './page-props.ts'
import { type Place, pathOf, placeOf } from './place.ts'
import { RedisNotice } from './redis-notice.tsx'
import { PAGES } from './sections.ts'

const POLL_MS = 3000

export function Frame(): VNode {
  const place = placeOf(useStore(path))
  const { parts, problem, refresh } = useParts(place)
  const isEmpty = parts.load === undefined
  const act = async (change: ChangeRequest): Promise<boolean> => {
    const isDone = await applyChange(change)
    if (isDone) await refresh()
    return isDone
  }
  const content = useTitle(place)
  return (
    <main class="admin">
      <Navigation place={place} parts={parts} />
      <div class="admin-page" ref={content} tabIndex={-1}>
        {problem !== undefined && (
          <p class="notice" role="alert">
            {isEmpty ? DASHBOARD.noAnswer(problem) : COMMON.unreachable}
          </p>
        )}
        {parts.load?.redis === 'down' && <RedisNotice />}
        {place.page === undefined ? (
          <Nothing text={DASHBOARD.noPage} />
        ) : (
          !(isEmpty && problem !== undefined) && (
            <PageOf place={place} parts={parts} act={act} refresh={refresh} />
          )
        )}
      </div>
      <LastChangeMessage refresh={refresh} />
      <BanDialog />
      <Confirm />
    </main>
  )
}

interface Loading {
  parts: Partial<Parts>
  /** Why the last load failed; undefined when it did not, and while the administrator has to log in again. */
  problem: string | undefined
  refresh(): Promise<void>
}

/** Loads what the page needs at once when it is opened. */
function useParts({ page }: Place): Loading {
  const data = useMemo(() => new AdminData(), [])
  const needs = page === undefined ? [] : PAGES[page].needs
  const { error, refresh: load } = usePoll(() => data.load(needs), POLL_MS)
  const opened = useRef(page)
  useEffect(() => {
    if (opened.current !== page) void load()
    opened.current = page
  }, [page])
  const refresh = (): Promise<void> => {
    data.expire()
    return load()
  }
  const problem = error === undefined || error.isUnauthorized ? undefined : error.message
  return { parts: data.parts, problem, refresh }
}

/** Names the document, and moves the focus to a page that is opened: readers continue at its beginning. */
function useTitle({ page, section, below }: Place) {
  const content = useRef<HTMLDivElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    const [name] = page === 'site' ? below.split(':') : [section === undefined ? '' : SECTIONS[section]]
    document.title = [name, COMMON.admin, COMMON.name].filter(Boolean).join(' · ')
    if (!isFirst.current) content.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [page, below])
  return content
}

interface PageOfProps {
  place: Place
  parts: Partial<Parts>
  act(change: ChangeRequest): Promise<boolean>
  refresh(): Promise<void>
}

function PageOf({ place: { page = 'overview', below }, parts, act, refresh }: PageOfProps): VNode {
  const { load, needs, isShown } = PAGES[page]
  const [loaded, setLoaded] = useState<{ page: string; Page: Page<Part> | undefined } | undefined>(undefined)
  useEffect(() => {
    load().then(
      (Page) => setLoaded({ page, Page }),
      () => setLoaded({ page, Page: undefined }),
    )
  }, [page])
  if (parts.load !== undefined && isShown?.(parts as Parts) === false) return <Nothing text={DASHBOARD.off} />
  const isHere = parts.load !== undefined && needs.every((part) => parts[part] !== undefined)
  if (loaded?.page !== page || !isHere) return <Waiting />
  const { Page } = loaded
  if (Page === undefined) return <Waiting text={COMMON.notLoaded} />
  return <Page key={page} view={parts as Parts} below={below} act={act} refresh={refresh} />
}

function Waiting({ text = COMMON.loading }: { text?: string }): VNode {
  return (
    <p role="status" class="quiet">
      {text}
    </p>
  )
}

function Nothing({ text }: { text: string }): VNode {
  return (
    <>
      <h1>{text}</h1>
      <p>
        <Link to={pathOf('overview')}>{DASHBOARD.toOverview}</Link>
      </p>
    </>
  )
}
