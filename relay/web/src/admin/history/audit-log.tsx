// The audit log of the machine that answers, a page at a time, the newest first.
import { HeadRow } from '../../common/head-row.tsx'
import '../../style/admin/table.css'
import { type AuditEntry, type AuditResponse, PATH } from '@svc/protocol'
import type { ApiError } from '../../common/api.ts'
import { formatTime } from '../../common/format.ts'
import { sanitizeText } from '../../common/sanitize-text.ts'
import { useEffect, useState, type VNode } from '../../preact.ts'
import { AUDIT } from '../../texts/admin.ts'
import { COMMON } from '../../texts/common.ts'
import { callAsAdmin } from '../admin-login.ts'
import { auditText } from './audit-text.ts'

interface Loaded {
  entries: readonly AuditEntry[]
  /** Undefined at the end of the log. */
  next: string | undefined
}

export function AuditLog(): VNode {
  const [log, setLog] = useState<Loaded | undefined>(undefined)
  const [error, setError] = useState('')
  const more = async (after?: string): Promise<void> => {
    const path =
      after === undefined ? PATH.policyAudit : `${PATH.policyAudit}?after=${encodeURIComponent(after)}`
    try {
      const { entries, next } = await callAsAdmin<AuditResponse>(path)
      setLog((before) => ({
        entries: [...(after === undefined ? [] : (before?.entries ?? [])), ...entries],
        next,
      }))
      setError('')
    } catch (failure) {
      setError((failure as ApiError).message)
    }
  }
  useEffect(() => void more(), [])
  return (
    <section class="card" aria-labelledby="audit-heading">
      <h2 id="audit-heading">{AUDIT.title}</h2>
      <p class="quiet">{AUDIT.about}</p>
      {error !== '' && (
        <p class="error" role="alert">
          {AUDIT.failed(error)}
        </p>
      )}
      {log === undefined ? (
        error === '' && <p class="quiet">{COMMON.loading}</p>
      ) : (
        <Entries log={log} more={more} />
      )}
    </section>
  )
}

function Entries({
  log: { entries, next },
  more,
}: {
  log: Loaded
  more(after?: string): Promise<void>
}): VNode {
  return (
    <>
      {entries.length === 0 ? (
        <p class="quiet">{AUDIT.none}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has nothing else to focus
        <section class="scroll" tabIndex={0} aria-label={AUDIT.lines}>
          <table class="plain-table audit">
            <HeadRow names={AUDIT.columns} />
            <tbody>
              {entries.map((entry, index) => (
                // The log only grows, and its lines have no number.
                <tr key={index}>
                  <td>
                    <time dateTime={entry.at}>{formatTime(entry.at)}</time>
                  </td>
                  <td>
                    {sanitizeText(entry.by ?? AUDIT.nobody)}
                    {entry.address !== undefined && <small class="quiet"> {entry.address}</small>}
                  </td>
                  <td>
                    {auditText(entry).map((line) => (
                      <bdi key={line}>{line}</bdi>
                    ))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <div class="row end">
        <button type="button" class="plain small" onClick={() => void more()}>
          {AUDIT.newest}
        </button>
        {next !== undefined && (
          <button type="button" class="plain small" onClick={() => void more(next)}>
            {AUDIT.older}
          </button>
        )}
      </div>
    </>
  )
}
