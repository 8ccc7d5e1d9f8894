// The inspector: the list of requests beside the one that is open, with keys for all of it.

import { Confirm } from '../common/confirm.tsx'
import { useStore } from '../common/store.ts'
import { useKeys } from '../common/use-keys.ts'
import { useEffect, useMemo, useRef, useState, type VNode } from '../preact.ts'
import { type Actions, copyAs, copyLink, type Dialog, replay, saveHar } from './actions.ts'
import { choose, chosen } from './chosen.ts'
import { CompareDialog } from './compare-dialog.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { Detail } from './entry-detail.tsx'
import { EntryFeed } from './entry-feed.ts'
import { EntryList, focusEntry, toList } from './entry-list.tsx'
import { filterOf } from './filter-text.ts'
import { KeysDialog } from './keys.tsx'
import { attempt, Said } from './said.tsx'
import type { InspectorSource } from './source.ts'
import { DETAIL, LIST } from './texts.ts'
import { FILTER_ID, Toolbar } from './toolbar.tsx'
import type { EntryDetail, EntrySummary } from './types.ts'
import { type Loaded, useDetail } from './use-detail.ts'

/** The time after the last key before a filter is asked for, in milliseconds. */
const TYPING_MS = 200

/** Shows what a source has. The parts around it are of the page. */
export function Inspector({ source }: { source: InspectorSource }): VNode {
  const feed = useMemo(() => new EntryFeed(source), [source])
  const { entries, state, error } = useStore(feed.feed)
  const id = useStore(chosen)
  const [typed, setTyped] = useState('')
  const [tunnel, setTunnel] = useState<string | undefined>(undefined)
  const [dialog, setDialog] = useState<Dialog | undefined>(undefined)
  const [unmasked, setUnmasked] = useState<string | undefined>(undefined)
  const [mayStop, setMayStop] = useState(false)
  const [descriptors, setDescriptors] = useState(0)
  const query = useMemo(
    () => ({ ...filterOf(typed), ...(tunnel !== undefined && { tunnel }) }),
    [typed, tunnel],
  )
  useFollowing(feed, query)
  const isUnmasked = id !== undefined && unmasked === id
  const loaded = useDetail(source, id, [entries.find((entry) => entry.id === id), descriptors], isUnmasked)
  const entry = loaded?.id === id ? loaded?.detail : undefined
  const { actions, heading } = useActions({ source, entry, isUnmasked, setDialog, setUnmasked })
  useInspectorKeys({ entries, id, entry, actions, heading, setDialog })
  const stop = (): void => {
    setMayStop(false)
    void attempt(() => source.stopReplays())
  }
  return (
    <div class="inspector" data-open={id !== undefined}>
      <section class="list card" aria-label={LIST.title}>
        <Toolbar
          source={source}
          feed={feed}
          state={state}
          query={query}
          typed={typed}
          tunnel={tunnel}
          mayStop={mayStop}
          onType={setTyped}
          onTunnel={setTunnel}
          onStop={stop}
          onKeys={() => setDialog('keys')}
          onDescriptors={() => setDescriptors((count) => count + 1)}
        />
        {error && (
          <p class="notice" role="alert">
            {error.message}
          </p>
        )}
        {entries.length === 0 && !error && (
          <p class="quiet" role="status">
            {state === undefined ? LIST.loading : state.entries === 0 ? LIST.none : LIST.noneFits}
          </p>
        )}
        <EntryList
          entries={entries}
          chosen={id}
          hasTunnels={(state?.tunnels.length ?? 0) > 1}
          onChoose={choose}
        />
      </section>
      <section class="detail card" aria-label={DETAIL.label}>
        <Opened loaded={loaded} id={id} source={source} actions={actions} isUnmasked={isUnmasked} />
      </section>
      <Dialogs
        dialog={dialog}
        entry={entry}
        entries={entries}
        source={source}
        isUnmasked={isUnmasked}
        // The browser tells of the end of a dialog later: another one may be open then.
        onClose={() => setDialog((now) => (now === dialog ? undefined : now))}
        onMany={() => setMayStop(true)}
      />
      <Confirm />
      <Said />
    </div>
  )
}

interface DialogsProps {
  dialog: Dialog | undefined
  entry: EntryDetail | undefined
  entries: readonly EntrySummary[]
  source: InspectorSource
  isUnmasked: boolean
  onClose(): void
  onMany(): void
}

function Dialogs({ dialog, entry, onMany, ...shared }: DialogsProps): VNode | null {
  if (dialog === 'keys') return <KeysDialog onClose={shared.onClose} />
  if (!entry || dialog === undefined) return null
  return dialog === 'edit' ? (
    <EditDialog entry={entry} onMany={onMany} source={shared.source} onClose={shared.onClose} />
  ) : (
    <CompareDialog entry={entry} {...shared} />
  )
}

interface OpenedProps {
  loaded: Loaded | undefined
  id: string | undefined
  source: InspectorSource
  actions: Actions
  isUnmasked: boolean
}

function Opened({ loaded, id, source, actions, isUnmasked }: OpenedProps): VNode {
  if (id === undefined) return <p class="quiet">{DETAIL.nothing}</p>
  return (
    <>
      <button type="button" class="plain small back" onClick={() => toList(id)}>
        {DETAIL.back}
      </button>
      {loaded?.detail && (
        <Detail entry={loaded.detail} source={source} actions={actions} isUnmasked={isUnmasked} />
      )}
      {loaded?.error && <p role="alert">{DETAIL.gone}</p>}
    </>
  )
}

/** Follows at once, and after changes of the filter when nobody types any more. */
function useFollowing(feed: EntryFeed, query: Parameters<EntryFeed['follow']>[0]): void {
  const isFirst = useRef(true)
  useEffect(() => {
    const timer = setTimeout(() => feed.follow(query), isFirst.current ? 0 : TYPING_MS)
    isFirst.current = false
    return () => clearTimeout(timer)
  }, [feed, query])
  useEffect(() => () => feed.stop(), [feed])
}

interface ActionsOf {
  source: InspectorSource
  entry: EntryDetail | undefined
  isUnmasked: boolean
  setDialog(dialog: Dialog | undefined): void
  setUnmasked(id: string | undefined): void
}

function useActions({ source, entry, isUnmasked, setDialog, setUnmasked }: ActionsOf): {
  actions: Actions
  heading: { current: HTMLElement | null }
} {
  const heading = useRef<HTMLElement | null>(null)
  const mayRepeat = entry !== undefined && entry.not_repeatable === undefined
  const actions: Actions = {
    replay: () => mayRepeat && void replay(source, { id: entry.id }),
    edit: () => mayRepeat && setDialog('edit'),
    compare: () => entry && setDialog('compare'),
    copyAs: (format) => mayRepeat && void copyAs(source, entry, format, isUnmasked),
    copyLink: () => entry && void copyLink(entry.id),
    saveHar: () => entry && void saveHar(source, { id: entry.id }, isUnmasked),
    showSecrets: () => setUnmasked(isUnmasked ? undefined : entry?.id),
    open: choose,
    onHeading: (element) => {
      heading.current = element
    },
  }
  return { actions, heading }
}

interface KeysOf {
  entries: readonly EntrySummary[]
  id: string | undefined
  entry: EntryDetail | undefined
  actions: Actions
  heading: { current: HTMLElement | null }
  setDialog(dialog: Dialog): void
}

function useInspectorKeys({ entries, id, actions, heading, setDialog }: KeysOf): void {
  const step = (by: number): void => {
    const at = entries.findIndex((entry) => entry.id === id)
    const next = entries[at < 0 ? 0 : at + by]
    if (!next) return
    choose(next.id)
    focusEntry(next.id)
  }
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    '/': () => document.getElementById(FILTER_ID)?.focus(),
    r: actions.replay,
    e: actions.edit,
    d: actions.compare,
    c: () => actions.copyAs('curl'),
    '?': () => setDialog('keys'),
    Escape: () => id !== undefined && toList(id),
  })
  useEffect(() => {
    const toRequest = (event: KeyboardEvent): void => {
      const row = (event.target as HTMLElement).dataset?.entry
      if (event.key === 'Enter' && row !== undefined && row === id) heading.current?.focus()
    }
    addEventListener('keyup', toRequest)
    return () => removeEventListener('keyup', toRequest)
  }, [id])
}
