// Entries as an inspector describes them.

import type { EntryDetail, EntryList, EntrySummary, InspectorState } from '../../src/inspector/types.ts'

export function summary(id: string, fields: Partial<EntrySummary> = {}): EntrySummary {
  return {
    id,
    at: 0,
    kind: 'http',
    method: 'GET',
    host: 'demo.example',
    path: '/',
    state: 'done',
    request_bytes: 0,
    response_bytes: 0,
    messages: 0,
    imported: false,
    ...fields,
  }
}

export function detail(fields: Partial<EntryDetail> = {}): EntryDetail {
  const body = { wire_bytes: 0, kept_bytes: 0, view: { kind: 'none' } } as const
  return {
    ...summary('run-1'),
    url: 'https://demo.example/',
    times: {},
    request: { headers: [], trailers: [], body },
    stream: [],
    dropped_messages: 0,
    masked: false,
    ...fields,
  }
}

const STATE: InspectorState = {
  paused: false,
  entries: 0,
  bytes: 0,
  max_bytes: 0,
  dropped_entries: 0,
  dropped_bytes: 0,
  skipped: 0,
  max_body_bytes: 0,
  tunnels: [''],
  message_types: 0,
}

export function list(cursor: string, fields: Partial<EntryList> = {}): EntryList {
  return { cursor, reset: false, entries: [], removed: [], state: STATE, ...fields }
}
