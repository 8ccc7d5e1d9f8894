// What the user does with the site of this tab. The code that publishes is loaded at the first press.
import { COMMON } from '../texts/common.ts'
import { type Choices, endOf, NO_CHOICES } from './choices.ts'
import type { Kind } from './demos/demo.ts'
import { KEPT_FILES } from './demos/kept-mark.ts'
import { lastChoices, lastKind, publication, remember, remembered, update } from './publication.ts'

/** Milliseconds after which the files of closed tabs are forgotten: a tab that reloads is back by then. */
const SWEEP_AFTER_MS = 30_000

/**
 * @param invitation for a relay that asked for one; empty for none
 * @param resumed for a site that was online before
 */
export async function start(
  kind: Kind,
  chosen: Choices,
  invitation = '',
  resumed: { endsAt: number | undefined } | undefined = undefined,
): Promise<void> {
  lastKind.set(kind)
  lastChoices.set(chosen)
  const endsAt = resumed ? resumed.endsAt : endOf(chosen, Date.now())
  const none = { url: '', error: '', visitCount: 0, visits: [] }
  const hasPassword = chosen.password !== ''
  publication.set({ kind, hasPassword, endsAt, state: 'connecting', ...none })
  const publishing = await load()
  await publishing?.begin(kind, chosen, { invitation, endsAt, isResuming: resumed !== undefined })
}

export async function stop(): Promise<void> {
  const publishing = await load()
  await publishing?.end()
}

/** Later visitors of the note see this text. */
export async function write(note: string): Promise<void> {
  lastChoices.set({ ...lastChoices.value, note })
  const publishing = await load()
  publishing?.write(note)
}

function load(): Promise<typeof import('./publishing.ts') | undefined> {
  return import('./publishing.ts').catch(() => {
    update({ state: 'closed', error: COMMON.notLoaded })
    return undefined
  })
}

/** After a reload, publishes the same site at the same address again. */
export function resume(): void {
  const was = remembered()
  if (was === undefined || publication.value !== undefined) return
  const { kind, endsAt, ...choices } = was
  if (endsAt !== undefined && endsAt <= Date.now()) remember(undefined)
  else void start(kind, { ...NO_CHOICES, ...choices }, '', { endsAt })
}

/** Forgets the files of tabs that were closed. */
export function sweepLater(): void {
  if (localStorage.getItem(KEPT_FILES) === null) return
  setTimeout(
    () => import('./demos/kept-files.ts').then(({ sweepFiles }) => sweepFiles()).catch(() => {}),
    SWEEP_AFTER_MS,
  )
}
