// The API of the inspector: its paths, and the JSON of each request and answer. It imports only types, so that a page can import it
// too. The agent has the same paths.

export type * from '@svc/sdk-core/inspector'

/** WAIT_MAX_MS is the longest time, in milliseconds, for which a question waits for a change. */
export const WAIT_MAX_MS = 8_000

/**
 * INSPECTOR_PATH has the paths of the inspector. Answers have the envelope of the agent's API, `{ok: true, data}` or
 * `{ok: false, error: {code, message}}`; the same sign-ins (`AGENT_PATH.redeem` with the ticket of the address, then
 * `Authorization: Bearer TOKEN`), and only the owner may call. `entry_not_found` is the error for an entry that was dropped or is of
 * another run, and `inspector_off` that of an agent that records nothing.
 *
 * A page shows what the first question gives, and asks again with `after` and `wait_ms`: each answer has what changed meanwhile. It
 * replaces entries by `id` and removes those in `removed`; after `reset` it begins anew.
 */
export const INSPECTOR_PATH = {
  /** GET with the fields of {@link ListQuery}, and `wait_ms` (0 to 8000) to wait for a change after `after`. Answer {@link EntryList}. */
  entries: '/inspector/entries',
  /** GET with `id`, `unmask=true` to show secrets, and `message_type` for protobuf of which nothing says its type. Answer {@link EntryDetail}. */
  entry: '/inspector/entry',
  /** GET with `id`, and `side`: `request` or `response`. Answer {@link BodyBytes}. */
  body: '/inspector/body',
  /** POST {@link ReplayRequest}, answer {@link Replayed}. */
  replay: '/inspector/replay',
  /** POST `{}`, answer `{}`. Ends replays that go on. */
  stopReplays: '/inspector/replay/stop',
  /** POST `{}`, answer {@link InspectorState}. Drops all entries. */
  clear: '/inspector/clear',
  /** POST {@link PauseRequest}, answer {@link InspectorState}. */
  pause: '/inspector/pause',
  /** GET with `one` and `other`: ids. Answer {@link Comparison} of their responses. `unmask=true` shows secrets. */
  compare: '/inspector/compare',
  /** GET with `id` and `format` ({@link ExportFormat}), `unmask=true` to have secrets in it. Answer {@link ExportedText}. */
  export: '/inspector/export',
  /** GET with the filters of {@link ListQuery}, or `id`; `unmask=true` to have secrets in it. Answer {@link HarFile}. */
  har: '/inspector/har',
  /** POST {@link HarFile}, answer {@link HarImport}. */
  importHar: '/inspector/har/import',
  /** POST {@link DescriptorSet}, answer {@link InspectorState}. Protobuf is decoded by it, in place of the one before. */
  descriptors: '/inspector/descriptors',
  /** GET, answer {@link PageSettings}. */
  settings: '/inspector/settings',
  /** POST {@link PageSettings}, answer `{}`. They are kept for other commands of this user, too. */
  setSettings: '/inspector/settings/set',
} as const

/** PageSettings are what a person chose for the page. */
export interface PageSettings {
  /** Whether letters and signs work as keys (WCAG 2.1.4). @default true */
  single_keys: boolean
}

export interface PauseRequest {
  paused: boolean
}

export interface ExportedText {
  text: string
}

/** A HarFile holds an HTTP Archive 1.2. */
export interface HarFile {
  har: object
}

/** A DescriptorSet is a FileDescriptorSet of protobuf, as `protoc --include_imports -o FILE` writes it. */
export interface DescriptorSet {
  base64: string
}

export interface HarImport {
  /** The number of entries that were added, and of those that were not understood. */
  imported: number
  skipped: number
}
