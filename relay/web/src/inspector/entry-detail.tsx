// All of one request: what can be done with it, where its time went, and tabs of its parts.

import { type Tab, Tabs } from '../common/tabs.tsx'
import { useEffect, useRef, useState, type VNode } from '../preact.ts'
import type { Actions } from './actions.ts'
import { ContentView } from './content-view.tsx'
import { isListHidden } from './entry-list.tsx'
import { isWrong, statusOf } from './entry-row.tsx'
import { MessagesView } from './messages-view.tsx'
import type { InspectorSource } from './source.ts'
import { DETAIL, ms } from './texts.ts'
import { TimingBar } from './timing-bar.tsx'
import type { EntryDetail, ExportFormat } from './types.ts'

type Part = keyof typeof DETAIL.tabs

interface DetailProps {
  entry: EntryDetail
  source: InspectorSource
  actions: Actions
  isUnmasked: boolean
}

export function Detail({ entry, source, actions, isUnmasked }: DetailProps): VNode {
  // The tab that was chosen stays from one request to the next.
  const [part, setPart] = useState<Part | undefined>(undefined)
  const tabs = partsOf(entry)
  const current = tabs.find(({ id }) => id === part)?.id ?? (entry.kind === 'http' ? 'request' : 'messages')
  const { id } = entry
  return (
    <>
      <Head entry={entry} actions={actions} />
      <Buttons entry={entry} actions={actions} isUnmasked={isUnmasked} />
      <TimingBar times={entry.times} />
      <Tabs<Part> name="entry" label={DETAIL.label} tabs={tabs} current={current} onChange={setPart}>
        {current === 'request' && (
          <ContentView key={id} content={entry.request} load={() => source.body(id, 'request')} />
        )}
        {current === 'response' && entry.response === undefined && <p class="quiet">{DETAIL.noAnswer}</p>}
        {current === 'response' && entry.response && (
          <ContentView
            key={`${id} answer`}
            content={entry.response}
            load={() => source.body(id, 'response')}
          />
        )}
        {current === 'messages' && <MessagesView entry={entry} />}
      </Tabs>
    </>
  )
}

function partsOf({ kind }: EntryDetail): Tab<Part>[] {
  const ids: Part[] = kind === 'http' ? ['request', 'response'] : ['request', 'response', 'messages']
  return ids.map((id) => ({ id, title: DETAIL.tabs[id] }))
}

function Head({ entry, actions }: { entry: EntryDetail; actions: Actions }): VNode {
  const { id, at, method, path, host, version, address, tunnel, error, grpc_status, grpc_message, webhook } =
    entry
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    actions.onHeading(heading.current)
    // Its line, which had the focus, is not there any more.
    if (isListHidden()) heading.current?.focus()
  }, [id])
  const facts = [
    new Date(at).toLocaleString(),
    host,
    version === undefined ? '' : `HTTP/${version}`,
    address,
    tunnel,
    entry.ms === undefined ? '' : ms(entry.ms),
  ]
  return (
    <>
      <h2 ref={heading} tabIndex={-1}>
        <code>
          {method} <bdi>{path}</bdi>
        </code>
        <span class="state" data-state={isWrong(entry) ? 'wrong' : 'online'}>
          {statusOf(entry)} {entry.response?.status_text}
        </span>
      </h2>
      <p class="quiet">
        <bdi>{facts.filter(Boolean).join(' · ')}</bdi>
      </p>
      {entry.replay_of !== undefined && (
        <p>
          <button type="button" class="plain small" onClick={() => actions.open(entry.replay_of!)}>
            {DETAIL.replayOf}
          </button>
        </p>
      )}
      {error !== undefined && (
        <p class="wrong">
          <bdi>{error}</bdi>
        </p>
      )}
      {grpc_status !== undefined && (
        <p class={grpc_status > 0 ? 'wrong' : 'quiet'}>
          <bdi>{DETAIL.grpc(grpc_status, grpc_message)}</bdi>
        </p>
      )}
      {webhook && (
        <p class={webhook.result === 'valid' ? 'quiet' : 'wrong'}>
          <bdi>{DETAIL.signature(webhook)}</bdi>
        </p>
      )}
    </>
  )
}

function Buttons({ entry, actions, isUnmasked }: Omit<DetailProps, 'source'>): VNode {
  const isFixed = entry.not_repeatable !== undefined
  return (
    <>
      <div class="actions">
        <button type="button" class="small" disabled={isFixed} onClick={actions.replay}>
          {DETAIL.replay}
        </button>
        <button type="button" class="plain small" disabled={isFixed} onClick={actions.edit}>
          {DETAIL.edit}
        </button>
        <button type="button" class="plain small" onClick={actions.compare}>
          {DETAIL.compare}
        </button>
        <span class="formats">
          <span class="quiet" aria-hidden="true">
            {DETAIL.copyAs}
          </span>
          {Object.entries(DETAIL.formats).map(([format, name]) => (
            <button
              key={format}
              type="button"
              class="plain small"
              disabled={isFixed}
              aria-label={`${DETAIL.copyAs} ${name}`}
              onClick={() => actions.copyAs(format as ExportFormat)}
            >
              {name}
            </button>
          ))}
        </span>
        <button type="button" class="plain small" onClick={actions.copyLink}>
          {DETAIL.copyLink}
        </button>
        <button type="button" class="plain small" onClick={actions.saveHar}>
          {DETAIL.har}
        </button>
        {(entry.masked || isUnmasked) && (
          <button type="button" class="plain small" aria-pressed={isUnmasked} onClick={actions.showSecrets}>
            {DETAIL.showSecrets}
          </button>
        )}
      </div>
      {isFixed && <p class="quiet">{entry.not_repeatable}</p>}
    </>
  )
}
