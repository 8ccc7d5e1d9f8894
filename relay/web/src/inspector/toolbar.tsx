// What concerns the whole list: the filter, the pause, the files, and what is kept.

import { confirm } from '../common/confirm.tsx'
import { singleKeys } from '../common/single-keys.ts'
import { useStore } from '../common/store.ts'
import { useRef, type VNode } from '../preact.ts'
import { openDescriptors, openHar, saveHar } from './actions.ts'
import type { EntryFeed } from './entry-feed.ts'
import { attempt } from './said.tsx'
import type { InspectorSource } from './source.ts'
import { kept, LIST } from './texts.ts'
import type { InspectorState, ListQuery } from './types.ts'

interface ToolbarProps {
  source: InspectorSource
  feed: EntryFeed
  state: InspectorState | undefined
  query: ListQuery
  typed: string
  tunnel: string | undefined
  mayStop: boolean
  onType(typed: string): void
  onTunnel(tunnel: string | undefined): void
  onStop(): void
  onKeys(): void
  /** Protobuf is decoded by other types from now on. */
  onDescriptors(): void
}

/** The id of the field, to which a key leads. */
export const FILTER_ID = 'requests-filter'

export function Toolbar(props: ToolbarProps): VNode {
  const { state, typed, onType } = props
  return (
    <search class="toolbar">
      <label class="unseen" for={FILTER_ID}>
        {LIST.filter}
      </label>
      <input
        id={FILTER_ID}
        type="search"
        class="whole"
        placeholder={LIST.filterHint}
        aria-describedby="requests-filter-help"
        title={LIST.filterHelp}
        spellcheck={false}
        autocomplete="off"
        value={typed}
        onInput={(event) => onType(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' || event.key === 'Enter') event.currentTarget.blur()
        }}
      />
      <span id="requests-filter-help" class="unseen">
        {LIST.filterHelp}
      </span>
      <Tunnels {...props} />
      <Buttons {...props} />
      {state && (
        <p class="quiet kept">
          {state.paused && <strong>{LIST.isPaused} </strong>}
          {kept(state)}
        </p>
      )}
    </search>
  )
}

function Tunnels({ state, tunnel, onTunnel }: ToolbarProps): VNode | null {
  if (!state || state.tunnels.length < 2) return null
  return (
    <select
      aria-label={LIST.tunnel}
      class="whole"
      value={tunnel === undefined ? 'all' : `of ${tunnel}`}
      onChange={({ currentTarget: { value } }) =>
        onTunnel(value === 'all' ? undefined : value.slice('of '.length))
      }
    >
      <option value="all">{LIST.allTunnels}</option>
      {state.tunnels.map((name) => (
        <option key={name} value={`of ${name}`}>
          {name || LIST.unnamed}
        </option>
      ))}
    </select>
  )
}

function Buttons({
  source,
  feed,
  state,
  query,
  mayStop,
  onStop,
  onKeys,
  onDescriptors,
}: ToolbarProps): VNode {
  const file = useRef<HTMLInputElement>(null)
  const hasKeys = useStore(singleKeys)
  const descriptors = useRef<HTMLInputElement>(null)
  const isPaused = state?.paused === true
  const pause = (): Promise<boolean> => attempt(async () => feed.told(await source.pause(!isPaused)))
  const clear = async (): Promise<void> => {
    if (await confirm(LIST.sureToClear)) await attempt(async () => feed.told(await source.clear()))
  }
  const open = async (input: HTMLInputElement): Promise<void> => {
    const [chosen] = input.files ?? []
    if (chosen) await openHar(source, chosen)
    input.value = ''
  }
  const describe = async (input: HTMLInputElement): Promise<void> => {
    const [chosen] = input.files ?? []
    const told = chosen && (await openDescriptors(source, chosen))
    if (told) {
      feed.told(told)
      onDescriptors()
    }
    input.value = ''
  }
  return (
    <div class="actions">
      <button type="button" class="plain small" onClick={() => void pause()}>
        {isPaused ? LIST.resume : LIST.pause}
      </button>
      <button type="button" class="plain small" onClick={() => void clear()}>
        {LIST.clear}
      </button>
      <button type="button" class="plain small" onClick={() => void saveHar(source, query, false)}>
        {LIST.exportHar}
      </button>
      <button type="button" class="plain small" onClick={() => file.current?.click()}>
        {LIST.importHar}
      </button>
      <input
        ref={file}
        type="file"
        hidden
        accept=".har,application/json"
        aria-label={LIST.importHar}
        onChange={(event) => void open(event.currentTarget)}
      />
      <button
        type="button"
        class="plain small"
        title={LIST.descriptorsHelp}
        onClick={() => descriptors.current?.click()}
      >
        {LIST.descriptors}
      </button>
      <input
        ref={descriptors}
        type="file"
        hidden
        aria-label={LIST.descriptors}
        onChange={(event) => void describe(event.currentTarget)}
      />
      {mayStop && (
        <button type="button" class="plain small wrong" onClick={onStop}>
          {LIST.stop}
        </button>
      )}
      <button
        type="button"
        class="plain small"
        {...(hasKeys && { 'aria-keyshortcuts': '?' })}
        onClick={onKeys}
      >
        {LIST.keys}
      </button>
    </div>
  )
}
