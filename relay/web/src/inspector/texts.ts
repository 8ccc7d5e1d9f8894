// The texts of the inspector.

import { formatBytes } from '../common/format.ts'
import type { InspectorState } from './types.ts'

const many = (count: number, one: string, more: string): string =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${more}`

export const LIST = {
  title: 'Requests',
  filter: 'Filter',
  filterHint: 'POST 5xx /path text in bodies',
  filterHelp:
    'Words such as POST, 404, 5xx, failed and /path are known by their form, all others are a text in paths, header fields and bodies. text:404 and path:"a b" say which is meant.',
  tunnel: 'Tunnel',
  allTunnels: 'All tunnels',
  unnamed: 'without a name',
  none: 'No requests yet. They appear here as they come.',
  noneFits: 'No request fits the filter.',
  loading: 'Loading …',
  pause: 'Pause',
  resume: 'Record again',
  clear: 'Clear',
  sureToClear: 'Drop all requests that are kept?',
  exportHar: 'Save as HAR',
  importHar: 'Open a HAR',
  descriptors: 'Open a protobuf descriptor',
  descriptorsHelp: 'A FileDescriptorSet, which protoc --include_imports -o FILE writes',
  stop: 'Stop replays',
  keys: 'Keys',
  open: 'open',
  failed: 'failed',
  imported: 'from a file',
  replay: 'replay',
  isPaused: 'Paused: requests pass without being recorded.',
} as const

export const ms = (value: number): string =>
  value < 10
    ? `${value.toFixed(1)} ms`
    : value < 10_000
      ? `${Math.round(value)} ms`
      : `${(value / 1_000).toFixed(1)} s`

/** Says what is kept, and what is not. */
export function kept(state: InspectorState): string {
  const { entries, bytes, max_bytes, dropped_entries, skipped } = state
  const parts = [
    `${many(entries, 'request', 'requests')}, ${formatBytes(bytes)} of ${formatBytes(max_bytes)}`,
    ...(dropped_entries > 0 ? [`${many(dropped_entries, 'older one', 'older ones')} dropped`] : []),
    ...(skipped > 0 ? [`${many(skipped, 'was', 'were')} not recorded during a pause`] : []),
  ]
  return parts.join(' · ')
}

/** The names of the status codes of gRPC, by their number. */
const GRPC_NAMES: readonly (string | undefined)[] = [
  ...['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE'],
  ...['UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
]

export const DETAIL = {
  label: 'The request',
  nothing: 'Choose a request to see all of it.',
  gone: 'This request is not kept any more, or is of another run.',
  back: 'Back to the list',
  replay: 'Replay',
  edit: 'Edit and replay',
  compare: 'Compare answers',
  copyAs: 'Copy as',
  formats: { curl: 'curl', fetch: 'fetch', python: 'Python' },
  copyLink: 'Copy link',
  har: 'Save as HAR',
  showSecrets: 'Show secrets',
  hideSecrets: 'Mask secrets',
  replayOf: 'Replay of an earlier request',
  tabs: { request: 'Request', response: 'Answer', messages: 'Messages' },
  headers: 'Header fields',
  trailers: 'Trailers',
  body: 'Body',
  noAnswer: 'There is no answer yet.',
  noBody: 'none',
  cut: 'This is its beginning: the rest was not kept, or is too long to show.',
  parts: 'Parts of the form',
  variables: 'Variables',
  picture: 'The picture in the body',
  noPicture: 'The picture was not kept whole.',
  file: (name: string): string => `file ${name}`,
  dropped: (count: number): string =>
    `${many(count, 'earlier message is', 'earlier messages are')} not kept.`,
  noMessages: 'No messages yet.',
  fromVisitor: 'from the visitor',
  toVisitor: 'to the visitor',
  compressed: 'compressed',
  grpc: (status: number, message = ''): string =>
    `gRPC status ${status}${GRPC_NAMES[status] === undefined ? '' : ` ${GRPC_NAMES[status]}`}${message === '' ? '' : `: ${message}`}`,
  byNumber: 'Its fields, by number:',
  messageType: 'Type of the message',
  noMessageType: 'not known: by number',
  timing: 'Time',
  spans: { site: 'site', target: 'target', handler: 'handler', answer: 'answer' },
  signature: ({ sender, result, reason }: { sender: string; result: string; reason: string }): string =>
    `Signature (${sender}): ${result}${result === 'valid' ? '' : `, ${reason}`}`,
} as const

export const SIZE = {
  plain: (wire: number): string => formatBytes(wire),
  coded: (wire: number, encoding: string, decoded: number | undefined): string =>
    decoded === undefined
      ? `${formatBytes(wire)}, ${encoding}`
      : `${formatBytes(wire)} as ${encoding}, ${formatBytes(decoded)} without it`,
  kept: (bytes: number): string => `of which ${formatBytes(bytes)} are kept`,
} as const

export const SAID = {
  copied: (what: string): string => `Copied ${what}.`,
  masked: (what: string): string =>
    `Copied ${what}. Its secrets are masked: show them first to copy them, too.`,
  notCopied: 'The browser did not allow the copy.',
  replaying: (count: number): string => (count === 1 ? 'Replayed.' : `Replaying ${count} times.`),
  imported: (count: number, skipped: number): string =>
    `${many(count, 'request is', 'requests are')} added${skipped === 0 ? '.' : `, ${skipped} could not be read.`}`,
  descriptors: (types: number): string => `${many(types, 'message type is', 'message types are')} known.`,
  notHar: 'This file is no HTTP Archive.',
} as const

export const EDIT = {
  title: 'Edit and replay',
  method: 'Method',
  path: 'Path and query',
  headers: 'Header fields, one a line',
  text: 'Body',
  textKept: 'The body is no text, or was not kept whole: it is sent as it is.',
  count: 'How often',
  pause: 'Pause between them, in milliseconds',
  secrets: 'Masked secrets are sent as they were.',
  send: 'Send',
  cancel: 'Cancel',
  noField: (line: string): string => `“${line}” has no name and colon.`,
  masked: 'A masked secret was changed: write the whole value.',
} as const

export const COMPARE = {
  title: 'Compare answers',
  with: 'With the answer to',
  none: 'There is no other request in the list.',
  status: 'Status',
  headers: 'Header fields that differ',
  noHeaders: 'All header fields are the same.',
  body: 'Body',
  same: 'The bodies are the same.',
  cut: 'The bodies were too long to compare whole.',
  missing: '(none)',
  removed: 'only here: ',
  added: 'only in the other: ',
  close: 'Close',
} as const

export const KEYS = {
  title: 'Keys',
  close: 'Close',
  single: 'Letters, / and ? work as keys',
  aboutSingle: 'Without them, the buttons do the same, and the arrow keys choose in the list.',
  all: [
    ['j', 'The next request'],
    ['k', 'The previous request'],
    ['Enter', 'To the request itself'],
    ['Escape', 'Back to the list'],
    ['/', 'To the filter'],
    ['r', 'Replay'],
    ['e', 'Edit and replay'],
    ['d', 'Compare with another answer'],
    ['c', 'Copy as curl'],
    ['?', 'This list'],
  ],
} as const
