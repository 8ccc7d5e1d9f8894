// The operations of an inspector for a page or an API: each takes and gives plain data.

import { SvcError } from '../errors.ts'
import type { Field } from '../semantics/fields.ts'
import { fromBase64, toBase64 } from './base64.ts'
import { compared } from './compare.ts'
import { decodedBody } from './decoded-body.ts'
import { detailOf, summaryOf } from './describe.ts'
import { type Entry, typeOf } from './entry.ts'
import { exported } from './exported-code.ts'
import { filterOf } from './filter.ts'
import { type Har, toHar } from './har.ts'
import { importHar } from './har-import.ts'
import type { Inspector } from './inspector.ts'
import type {
  BodyBytes,
  Comparison,
  EntryDetail,
  EntryList,
  ExportFormat,
  HeaderField,
  InspectorState,
  ListQuery,
  Replayed,
  ReplayRequest,
} from './messages.ts'
import type { Edit } from './replay.ts'
import { unmaskedFields, unmaskedUrl } from './secrets.ts'

/** The default number of entries in a list. */
const LIMIT = 200
/** The most repetitions of one replay. */
const REPLAYS_MAX = 100
/** The longest pause between them, in milliseconds. */
const REPLAY_PAUSE_MAX_MS = 60_000
/** The most bytes of a decompressed content that are given out. */
const BODY_MAX_BYTES: number = 16 * 1024 * 1024

/** An Inspection is an inspector for those who look at it. */
export class Inspection {
  readonly inspector: Inspector
  #stopping = new AbortController()

  constructor(inspector: Inspector) {
    this.inspector = inspector
  }

  get state(): InspectorState {
    const { isPaused, entries, bytes, maxBytes, maxBodyBytes, dropped, skipped, tunnels, messageTypes } =
      this.inspector
    return {
      paused: isPaused,
      entries: entries.length,
      bytes,
      max_bytes: maxBytes,
      dropped_entries: dropped.entries,
      dropped_bytes: dropped.bytes,
      skipped,
      max_body_bytes: maxBodyBytes,
      tunnels: tunnels.map((name) => name ?? ''),
      message_types: messageTypes,
    }
  }

  /** @throws SvcError `invalid_option` for a filter that is none */
  async list(query: ListQuery = {}): Promise<EntryList> {
    const { inspector } = this
    const filter = filterOf(query)
    const { run, revision } = inspector
    const known = this.#since(query.after)
    const candidates = known?.changed ?? [...inspector.entries].reverse()
    const removed = known?.removed ?? []
    const entries: Entry[] = []
    for (const entry of candidates) {
      const isFitting = filter.fits(entry) && ((await filter.hasText?.(entry)) ?? true)
      if (isFitting) entries.push(entry)
      else if (known) removed.push(entry.id)
    }
    const given = known ? entries : entries.slice(-Math.max(1, query.limit ?? LIMIT))
    return {
      cursor: `${run}.${revision}`,
      reset: query.after !== undefined && known === undefined,
      entries: given.map((entry) => summaryOf(entry)),
      removed,
      state: this.state,
    }
  }

  /** Resolves when something changed after the cursor, or `signal` is aborted. */
  changed(after: string | undefined, signal: AbortSignal): Promise<void> {
    const { inspector } = this
    const { promise, resolve } = Promise.withResolvers<void>()
    const known = revisionOf(after, inspector.run)
    if (known !== inspector.revision || signal.aborted) return Promise.resolve()
    inspector.addEventListener('change', () => resolve(), { once: true, signal })
    signal.addEventListener('abort', () => resolve(), { once: true })
    return promise
  }

  /**
   * @param messageType the type of protobuf contents of which nothing says it
   * @throws SvcError `invalid_option`
   */
  async entry(id: string, isUnmasked: boolean, messageType?: string): Promise<EntryDetail> {
    const entry = this.get(id)
    const descriptors = this.inspector.descriptorsOf(entry)
    const found = await this.inspector.webhookOf(entry)
    const { sender = '', result = 'unchecked', code = '', reason = '' } = found ?? {}
    return {
      ...(await detailOf(entry, isUnmasked, { descriptors, messageType })),
      ...(found && { webhook: { sender, result, code, reason } }),
    }
  }

  /** Resolves with a content, without its compression. */
  async body(id: string, side: 'request' | 'response'): Promise<BodyBytes> {
    const content = this.get(id)[side]
    if (!content) throw new SvcError('invalid_option', `the entry ${id} has no response`)
    const { bytes, length } = await decodedBody(content, BODY_MAX_BYTES)
    return {
      type: typeOf(content) || undefined,
      base64: toBase64(bytes),
      complete: length === bytes.length,
    }
  }

  /**
   * Repeats an entry, and resolves with the first new one when that has begun; the others follow until `stopReplays`.
   * @throws SvcError `invalid_option`
   */
  async replay({ id, edit, count = 1, pause_ms: pause = 0 }: ReplayRequest): Promise<Replayed> {
    const entry = this.get(id)
    requireWhole('count', count, 1, REPLAYS_MAX)
    requireWhole('pause_ms', pause, 0, REPLAY_PAUSE_MAX_MS)
    const change = editOf(edit, entry)
    const { promise, resolve, reject } = Promise.withResolvers<Replayed>()
    const { signal } = this.#stopping
    const run = async (): Promise<void> => {
      for (let left = count; left > 0 && !signal.aborted; left -= 1) {
        await this.inspector.replay(id, change, (entry) => resolve({ id: entry.id }))
        if (left > 1 && pause > 0) await paused(pause, signal)
      }
    }
    // After the first one, an error ends the others: the entry that they repeat was dropped.
    run().catch(reject)
    return promise
  }

  /**
   * Compares the responses of two entries.
   * @param messageType the type of protobuf contents of which nothing says it
   * @throws SvcError `invalid_option`
   */
  compare(one: string, other: string, isUnmasked: boolean, messageType?: string): Promise<Comparison> {
    return compared(this.get(one), this.get(other), isUnmasked, (entry) => ({
      descriptors: this.inspector.descriptorsOf(entry),
      messageType,
    }))
  }

  /** Returns a program that sends the request of an entry. @throws SvcError `invalid_option` */
  export(id: string, format: ExportFormat, isUnmasked: boolean): string {
    return exported(this.get(id), format, isUnmasked)
  }

  /** Resolves with an HTTP Archive of the entries that fit. @throws SvcError `invalid_option` */
  async har(query: ListQuery, isUnmasked: boolean): Promise<Har> {
    const filter = filterOf(query)
    const entries: Entry[] = []
    for (const entry of [...this.inspector.entries].reverse())
      if (filter.fits(entry) && ((await filter.hasText?.(entry)) ?? true)) entries.push(entry)
    return toHar(entries, isUnmasked)
  }

  /** Resolves with an HTTP Archive of one entry. @throws SvcError `invalid_option` */
  harOf(id: string, isUnmasked: boolean): Promise<Har> {
    return toHar([this.get(id)], isUnmasked)
  }

  /** Adds the entries of an HTTP Archive. @throws SvcError `invalid_option` when it is none */
  importHar(har: unknown): { imported: number; skipped: number } {
    return importHar(this.inspector, har)
  }

  /** Decodes protobuf by a FileDescriptorSet in base64. @throws SvcError `invalid_option` */
  async useDescriptors(base64: string): Promise<InspectorState> {
    await this.inspector.useDescriptors(fromBase64(base64))
    return this.state
  }

  /** Ends replays that go on. */
  stopReplays(): void {
    this.#stopping.abort()
    this.#stopping = new AbortController()
  }

  /** @throws SvcError `invalid_option` */
  get(id: string): Entry {
    const entry = this.inspector.get(id)
    if (entry) return entry
    throw new SvcError('invalid_option', `there is no entry ${id}: it was dropped, or is of another run`)
  }

  #since(after: string | undefined): ReturnType<Inspector['since']> {
    const revision = revisionOf(after, this.inspector.run)
    return revision === undefined ? undefined : this.inspector.since(revision)
  }
}

/** @returns the revision of a cursor; undefined for one of another run */
function revisionOf(cursor: string | undefined, run: string): number | undefined {
  const [of, revision = ''] = cursor?.split('.') ?? []
  return of === run && /^\d{1,15}$/.test(revision) ? Number(revision) : undefined
}

/** @throws SvcError `invalid_option` */
function editOf(edit: ReplayRequest['edit'] = {}, entry: Entry): Edit {
  const { method, url, headers, text, base64 } = edit
  for (const [name, value] of Object.entries({ method, url, text, base64 }))
    if (value !== undefined && typeof value !== 'string')
      throw new SvcError('invalid_option', `edit.${name} is not a text`)
  const body = base64 === undefined ? text && new TextEncoder().encode(text) : fromBase64(base64)
  return {
    ...(method !== undefined && { method }),
    ...(url !== undefined && { url: unmaskedUrl(url, entry.url) }),
    ...(headers && { headers: unmaskedFields(fieldsOf(headers), entry.request.headers) }),
    ...(body !== undefined && { body: body === '' ? new Uint8Array(0) : body }),
  }
}

/** @throws SvcError `invalid_option` */
function fieldsOf(headers: readonly HeaderField[]): Field[] {
  const isField = ({ name, value }: HeaderField): boolean =>
    typeof name === 'string' && typeof value === 'string'
  if (Array.isArray(headers) && headers.every(isField)) return headers.map(({ name, value }) => [name, value])
  throw new SvcError('invalid_option', 'edit.headers is not a list of fields with name and value')
}

function requireWhole(name: string, value: number, min: number, max: number): void {
  if (!Number.isSafeInteger(value) || value < min || value > max)
    throw new SvcError('invalid_option', `${name} is not a whole number from ${min} to ${max}`)
}

function paused(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const stop = (): void => {
    clearTimeout(timer)
    resolve()
  }
  signal.addEventListener('abort', stop, { once: true })
  return promise
}
