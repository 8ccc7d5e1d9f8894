// Says what a line of the audit log is about: in words where this page knows the kind, else field by field.
import type { AuditEntry, PolicyChange } from '@svc/protocol'
import { sanitizeText } from '../../common/sanitize-text.ts'
import { AUDIT } from '../../texts/admin.ts'
import { pastChanges } from '../past-changes.ts'

const KNOWN: ReadonlySet<string> = new Set(['settings', 'lease', 'leases', 'ip', 'relay', 'domain', 'name'])
/** Shown characters of one value. */
const VALUE_CHARS = 200

/** @returns a line for each thing that was changed */
export function auditText({ at, kind, made, undo }: AuditEntry): string[] {
  if (KNOWN.has(kind) && undo !== undefined) {
    const [past] = pastChanges([{ id: 0, at, kind, made, undo } as unknown as PolicyChange])
    const lines = [past?.text ?? '', ...(past?.details ?? [])].filter(Boolean)
    // The name alone is not the identity.
    const key = typeof made.identity_key === 'string' ? [made.identity_key] : []
    if (lines.length > 0) return [...lines, ...key].map(sanitizeText)
  }
  const fields = Object.entries(made).map(([field, value]) => `${field}: ${valueText(value)}`)
  return [AUDIT.kinds[kind as keyof typeof AUDIT.kinds] ?? kind, ...fields].map(sanitizeText)
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > VALUE_CHARS ? `${text.slice(0, VALUE_CHARS)} …` : text
}
