// Where the inspector's page has its data from: an API, or an inspector in the same tab.

import type {
  BodyBytes,
  Comparison,
  EntryDetail,
  EntryList,
  ExportFormat,
  InspectorState,
  ListQuery,
  Replayed,
  ReplayRequest,
} from './types.ts'

/** Each method rejects with an error whose message is for people. */
export interface InspectorSource {
  /** With `after` in the query, waits some seconds for a change. */
  list(query: ListQuery, signal: AbortSignal): Promise<EntryList>
  /** @param messageType the type of protobuf contents of which nothing says it */
  entry(id: string, isUnmasked: boolean, messageType?: string): Promise<EntryDetail>
  body(id: string, side: 'request' | 'response'): Promise<BodyBytes>
  replay(request: ReplayRequest): Promise<Replayed>
  stopReplays(): Promise<unknown>
  clear(): Promise<InspectorState>
  pause(isPaused: boolean): Promise<InspectorState>
  /** @param messageType as in `entry` */
  compare(one: string, other: string, isUnmasked: boolean, messageType?: string): Promise<Comparison>
  /** Resolves with a program that sends the request. */
  exported(id: string, format: ExportFormat, isUnmasked: boolean): Promise<string>
  /** Resolves with an HTTP Archive of one entry, or of those that fit a query. */
  har(of: ListQuery | { id: string }, isUnmasked: boolean): Promise<object>
  importHar(har: object): Promise<{ imported: number; skipped: number }>
  /** Decodes protobuf by a FileDescriptorSet. */
  useDescriptors(base64: string): Promise<InspectorState>
}
