// What differs between the answers to two requests.

import { formatClock } from '../common/format.ts'
import { Modal } from '../common/modal.tsx'
import { useEffect, useState, type VNode } from '../preact.ts'
import { statusOf } from './entry-row.tsx'
import { messageType } from './message-type.ts'
import type { InspectorSource } from './source.ts'
import { COMPARE, LIST } from './texts.ts'
import type { Comparison, EntryDetail, EntrySummary } from './types.ts'

interface CompareDialogProps {
  entry: EntryDetail
  entries: readonly EntrySummary[]
  source: InspectorSource
  isUnmasked: boolean
  onClose(): void
}

export function CompareDialog({ entry, entries, source, isUnmasked, onClose }: CompareDialogProps): VNode {
  const others = entries.filter(({ id }) => id !== entry.id)
  // A replay is compared with what it repeats, and others with a replay of theirs.
  const likely =
    others.find(({ id }) => id === entry.replay_of) ??
    others.find(({ replay_of }) => replay_of === (entry.replay_of ?? entry.id)) ??
    others[0]
  const [other, setOther] = useState(likely?.id)
  return (
    <Modal title={COMPARE.title} onClose={onClose}>
      {other === undefined ? (
        <p>{COMPARE.none}</p>
      ) : (
        <>
          <label for="compare-with">{COMPARE.with}</label>
          <select
            id="compare-with"
            class="whole"
            value={other}
            onChange={(event) => setOther(event.currentTarget.value)}
          >
            {others.map((one) => (
              <option key={one.id} value={one.id}>
                {`${formatClock(one.at)} ${one.method} ${one.path} ${statusOf(one)}`}
              </option>
            ))}
          </select>
          <Differences
            key={`${other} ${entry.id}`}
            one={other}
            other={entry.id}
            versions={[others.find(({ id }) => id === other), entries.find(({ id }) => id === entry.id)]}
            source={source}
            isUnmasked={isUnmasked}
          />
        </>
      )}
      <div class="row end">
        <button type="button" class="plain" onClick={onClose}>
          {COMPARE.close}
        </button>
      </div>
    </Modal>
  )
}

interface DifferencesProps {
  one: string
  other: string
  /** The two as the list has them: an answer may come while they are compared. */
  versions: readonly [EntrySummary | undefined, EntrySummary | undefined]
  source: InspectorSource
  isUnmasked: boolean
}

function Differences({ one, other, versions, source, isUnmasked }: DifferencesProps): VNode {
  const [found, setFound] = useState<Comparison | Error | undefined>(undefined)
  useEffect(() => {
    let isOver = false
    source.compare(one, other, isUnmasked, messageType.value).then(
      (comparison) => isOver || setFound(comparison),
      (error: Error) => isOver || setFound(error),
    )
    return () => {
      isOver = true
    }
  }, [one, other, ...versions, isUnmasked])
  if (found === undefined) return <p role="status">{LIST.loading}</p>
  if ('message' in found) return <p role="alert">{found.message}</p>
  const { status, headers, lines, cut } = found
  return (
    <>
      <h3>{COMPARE.status}</h3>
      <p>
        {status[0] ?? COMPARE.missing} → {status[1] ?? COMPARE.missing}
      </p>
      <h3>{COMPARE.headers}</h3>
      {headers.length === 0 && <p class="quiet">{COMPARE.noHeaders}</p>}
      <dl class="pairs">
        {headers.map((header, position) => (
          <div key={position}>
            <dt>
              <bdi>{header.name}</bdi>
            </dt>
            <dd>
              <bdi>{header.one ?? COMPARE.missing}</bdi> → <bdi>{header.other ?? COMPARE.missing}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      <h3>{COMPARE.body}</h3>
      <Lines lines={lines} />
      {cut && <p class="quiet">{COMPARE.cut}</p>}
    </>
  )
}

const SIGNS = { same: '  ', removed: '− ', added: '+ ' } as const
const SPOKEN = { same: '', removed: COMPARE.removed, added: COMPARE.added } as const

function Lines({ lines }: Pick<Comparison, 'lines'>): VNode {
  if (lines.every(({ kind }) => kind === 'same')) return <p class="quiet">{COMPARE.same}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard
    <section class="difference" tabIndex={0} aria-label={COMPARE.body}>
      <pre>
        {lines.map(({ kind, text }, position) => (
          <span key={position} data-kind={kind}>
            <span aria-hidden="true">{SIGNS[kind]}</span>
            <span class="unseen">{SPOKEN[kind]}</span>
            {`${text}\n`}
          </span>
        ))}
      </pre>
    </section>
  )
}
