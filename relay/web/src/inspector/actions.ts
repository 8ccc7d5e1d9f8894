// What a person can do with the request that is open.

import { base64Of } from './bytes-text.ts'
import { choose, linkTo } from './chosen.ts'
import { attempt, copy, save, say } from './said.tsx'
import type { InspectorSource } from './source.ts'
import { DETAIL, SAID } from './texts.ts'
import type { EntryDetail, ExportFormat, InspectorState, ReplayRequest } from './types.ts'

export type Dialog = 'edit' | 'compare' | 'keys'

export interface Actions {
  replay(): void
  edit(): void
  compare(): void
  copyAs(format: ExportFormat): void
  copyLink(): void
  saveHar(): void
  showSecrets(): void
  open(id: string): void
  /** Tells where the focus goes when a person turns to the request. */
  onHeading(element: HTMLElement | null): void
}

/** Repeats an entry, and opens the first new one. @returns whether that succeeded */
export function replay(source: InspectorSource, request: ReplayRequest): Promise<boolean> {
  return attempt(async () => {
    const { id } = await source.replay(request)
    say(SAID.replaying(request.count ?? 1))
    choose(id)
  })
}

export function copyAs(
  source: InspectorSource,
  { id, masked }: EntryDetail,
  format: ExportFormat,
  isUnmasked: boolean,
): Promise<boolean> {
  return attempt(async () => {
    const name = DETAIL.formats[format]
    const text = await source.exported(id, format, isUnmasked)
    await copy(text, masked && !isUnmasked ? SAID.masked(name) : SAID.copied(name))
  })
}

export function copyLink(id: string): Promise<void> {
  return copy(linkTo(id), SAID.copied(DETAIL.copyLink))
}

export function saveHar(
  source: InspectorSource,
  of: Parameters<InspectorSource['har']>[0],
  isUnmasked: boolean,
): Promise<boolean> {
  return attempt(async () => save(JSON.stringify(await source.har(of, isUnmasked), null, 2), 'requests.har'))
}

export function openHar(source: InspectorSource, file: File): Promise<boolean> {
  return attempt(async () => {
    const { imported, skipped } = await source.importHar(parsed(await file.text()))
    say(SAID.imported(imported, skipped))
  })
}

/** Resolves with the state after that; with undefined when the file is none. */
export async function openDescriptors(
  source: InspectorSource,
  file: File,
): Promise<InspectorState | undefined> {
  let state: InspectorState | undefined
  await attempt(async () => {
    state = await source.useDescriptors(base64Of(new Uint8Array(await file.arrayBuffer())))
    say(SAID.descriptors(state.message_types))
  })
  return state
}

function parsed(text: string): object {
  try {
    const har: unknown = JSON.parse(text)
    if (typeof har === 'object' && har !== null) return har
  } catch {
    // Said below.
  }
  throw new Error(SAID.notHar)
}
