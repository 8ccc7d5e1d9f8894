// What administrators changed: the recent changes, each with its way back, and the audit log.

import { formatAgo, formatTime } from '../../common/format.ts'
import type { VNode } from '../../preact.ts'
import { ACTIONS, CHANGES, SECTIONS } from '../../texts/admin.ts'
import { undoChange } from '../apply-change.ts'
import type { PageProps } from '../page-props.ts'
import { type PastChange, pastChanges } from '../past-changes.ts'
import { AuditLog } from './audit-log.tsx'

export function HistoryPage({ view: { changes }, refresh }: PageProps<'changes'>): VNode {
  return (
    <>
      <h1>{SECTIONS.history}</h1>
      <section class="card" aria-labelledby="changes-heading">
        <h2 id="changes-heading">{CHANGES.title}</h2>
        <p class="quiet">{changes.length === 0 ? CHANGES.none : CHANGES.about}</p>
        {changes.length > 0 && (
          <ul class="lines">
            {pastChanges(changes).map((made) => (
              <Line key={made.id} made={made} undo={() => void undoChange(made).then(refresh)} />
            ))}
          </ul>
        )}
      </section>
      <AuditLog />
    </>
  )
}

function Line({ made, undo }: { made: PastChange; undo(): void }): VNode {
  const at = new Date(made.at).toISOString()
  return (
    <li>
      <span>
        <bdi>{made.text}</bdi>
        {made.details.map((line) => (
          <span key={line} class="difference">
            <bdi>{line}</bdi>
          </span>
        ))}
        <small class="quiet">
          {made.by === undefined ? '' : CHANGES.by(made.by)}{' '}
          <time dateTime={at} title={formatTime(at)}>
            {formatAgo(at)}
          </time>
        </small>
      </span>
      {made.isUndone ? (
        <span class="quiet">{CHANGES.undone}</span>
      ) : (
        made.canUndo && (
          <button type="button" class="plain small" onClick={undo}>
            {ACTIONS.undo}
          </button>
        )
      )}
    </li>
  )
}
