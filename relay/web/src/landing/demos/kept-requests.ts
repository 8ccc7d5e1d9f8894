// Keeps the latest requests of a webhook inspector for a reload, in the session storage: it belongs to this tab, and ends with it.
import type { Entry, Inspector } from '@svc/sdk-browser/handlers'

/** Requests that are kept for a reload. */
const KEPT_MAX = 100
/** Characters that they may take together: a browser gives a tab about five million. */
const KEPT_MAX_CHARS = 1_000_000
const KEY = 'svc-landing-requests'
/** Bytes that are converted at once: a call has a limit of arguments. */
const STEP = 0x8000

/** @param isResuming adds what was kept; otherwise it is forgotten */
export function keepRequests(recorder: Inspector, isResuming: boolean): { forget(): void } {
  if (isResuming) for (const { entry, chars } of read()) recorder.add(entry, chars)
  else sessionStorage.removeItem(KEY)
  const over = new AbortController()
  const keep = (): void => write(recorder.entries)
  addEventListener('pagehide', keep, over)
  // A phone may end a page that is hidden without a word.
  document.addEventListener('visibilitychange', () => document.hidden && keep(), over)
  // The user cleared the list.
  recorder.addEventListener('change', () => recorder.entries.length === 0 && keep(), over)
  return {
    forget: () => {
      over.abort()
      sessionStorage.removeItem(KEY)
    },
  }
}

interface Kept {
  entry: Omit<Entry, 'id'>
  chars: number
}

/** @returns the oldest first; none where the storage has something else */
function read(): Kept[] {
  try {
    const texts: string[] = JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
    return texts.map((text) => ({ entry: JSON.parse(text, fromText), chars: text.length })).reverse()
  } catch {
    return []
  }
}

/** @param entries the newest first */
function write(entries: readonly Entry[]): void {
  const texts: string[] = []
  let chars = 0
  for (const entry of entries.slice(0, KEPT_MAX)) {
    const text = JSON.stringify(plain(entry), toText)
    chars += text.length
    if (chars > KEPT_MAX_CHARS) break
    texts.push(text)
  }
  try {
    if (texts.length === 0) sessionStorage.removeItem(KEY)
    else sessionStorage.setItem(KEY, JSON.stringify(texts))
  } catch {
    // The browser has no room: a reload forgets them.
  }
}

function plain(entry: Entry): Omit<Entry, 'id'> {
  const {
    at,
    kind,
    method,
    url,
    version,
    address,
    request,
    response,
    times,
    error,
    messages,
    droppedMessages,
  } = entry
  const same = { at, kind, method, url, version, address, times, error, messages, droppedMessages }
  const answer = response && {
    ...contentOf(response),
    status: response.status,
    statusText: response.statusText,
  }
  return {
    ...same,
    request: contentOf(request),
    response: answer,
    tunnel: undefined,
    replayOf: undefined,
    isImported: false,
  }
}

function contentOf({ headers, trailers, body, bodyBytes, parts }: Entry['request']): Entry['request'] {
  return { headers, trailers, body, bodyBytes, parts }
}

/** Bytes as base64, which no other value of an entry is taken for: the others are not objects with this key alone. */
function toText(_key: string, value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value
  let binary = ''
  for (let at = 0; at < value.length; at += STEP)
    binary += String.fromCharCode(...value.subarray(at, at + STEP))
  return { base64: btoa(binary) }
}

function fromText(_key: string, value: unknown): unknown {
  const isBytes = typeof value === 'object' && value !== null && 'base64' in value
  return isBytes ? Uint8Array.from(atob(String(value.base64)), (one) => one.charCodeAt(0)) : value
}
