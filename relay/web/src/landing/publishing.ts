// Publishes the demo site of this tab, follows its state and stops it.
import type { KnockingVisitor, PublishOptions, Site, SiteState } from '@svc/sdk-browser'
import { isForPhones } from '../common/for-phones.ts'
import { LANDING } from '../texts/landing.ts'
import { accessOf, type Choices, faultOf, hasPeople } from './choices.ts'
import { counted } from './counted.ts'
import type { Demo, Kind } from './demos/demo.ts'
import { freeName, siteNames } from './demos/site-names.ts'
import { codeOf, failureOf, sentenceOf } from './failures.ts'
import { askBeforeLeaving } from './leaving.ts'
import { keepName, publication, remember, remembered, update } from './publication.ts'

/** By how much a timer may be early by the clock. */
const TIMER_ERROR_MS = 1000

let site: Site | undefined
let demo: Demo | undefined

/**
 * Kinds whose owner was warned that this relay makes their address public, and published again. The addresses of a note and of a
 * chat need not be secret.
 */
const mayBePublic = new Set<Kind>(['note', 'chat'])

interface Beginning {
  /** Empty for none. */
  invitation: string
  endsAt: number | undefined
  /** After a reload. */
  isResuming: boolean
}

export async function begin(kind: Kind, chosen: Choices, beginning: Beginning): Promise<void> {
  const choices = meant(kind, chosen)
  if (choices.isAsking) update({ knocks: [] })
  try {
    await watch()
    // SDK and demo are not part of the page's first load.
    const [{ publish }, made, names] = await Promise.all([
      import('@svc/sdk-browser'),
      loadDemo(kind, choices.note, beginning.isResuming),
      siteNames(kind, choices, beginning.isResuming),
    ])
    demo = made
    update({ View: made.View, clear: made.clear })
    remember({ kind, endsAt: beginning.endsAt, ...choices })
    keepName(kind, choices.isKept ? choices.name : '')
    await publish({
      ...optionsOf(kind, choices, beginning),
      ...names,
      fetch: counted(kind, made),
      onSite: follow,
    })
  } catch (error) {
    failed(kind, error)
  }
}

function optionsOf(
  kind: Kind,
  choices: Choices,
  { invitation, endsAt }: Beginning,
): Pick<PublishOptions, 'relay'> & Partial<PublishOptions> {
  return {
    relay: location.origin,
    listed: choices.isListed,
    access: accessOf(choices, endsAt),
    invitation: invitation || undefined,
    metadata: { description: DESCRIPTION, tags: ['tab', kind] },
    // Certificate authorities publish the names in sites' own certificates.
    certificate: mayBePublic.has(kind) ? 'own' : 'shared',
    awayPage: true,
    // Another identity may have the name by chance now, or this browser may have lost its identity.
    allowCanonicalFallback: choices.name === '',
    debug: (event) => {
      if (event.type === 'retry') update({ nextAttemptAt: Date.now() + event.inMs })
    },
  }
}

/** The addresses of the other kinds grant access, so they are never listed. No program that calls waits. */
function meant(kind: Kind, choices: Choices): Choices {
  const { isListed, isAsking } = choices
  return { ...choices, isListed: kind === 'note' && isListed, isAsking: hasPeople(kind) && isAsking }
}

function failed(kind: Kind, error: unknown): void {
  freeName()
  // Stopping a site before it was online is not an error.
  if (codeOf(error) === 'aborted') return
  // The relay serves only sites with their own certificates, which publishes their names.
  const isSecret = codeOf(error) === 'certificate_unavailable' && !mayBePublic.has(kind)
  if (isSecret) mayBePublic.add(kind)
  const { text, fault } = failureOf(error)
  update({ state: 'closed', error: isSecret ? LANDING.addressIsPublic : text, fault })
}

/** The form is back at once, while visitors get the rest of their answers. */
export async function end(): Promise<void> {
  const ended = site
  site = undefined
  remember(undefined)
  demo?.forget?.()
  freeName()
  publication.set(undefined)
  await ended?.close()
}

/** Later visitors of the note see this text. */
export function write(note: string): void {
  demo?.write?.(note)
  const was = remembered()
  if (was) remember({ ...was, note })
}

const DESCRIPTION = "Published from the relay's own page"

/** The relay's view of the visits: the diagram goes without it where it cannot be loaded. */
async function watch(): Promise<void> {
  try {
    const wire = await import('./wire.ts')
    if (!isWatching) wire.watchWire()
    isWatching = true
    wire.forgetCarried()
  } catch {}
}

let isWatching = false

async function loadDemo(kind: Kind, note: string, isResuming: boolean): Promise<Demo> {
  if (kind === 'note') return (await import('./demos/note.ts')).createDemo(note)
  if (kind === 'folder') return await (await import('./demos/folder.ts')).createDemo(isResuming)
  if (kind === 'chat') return (await import('./demos/chat.tsx')).createDemo()
  if (kind === 'tools') return (await import('./demos/tools.tsx')).createDemo()
  return (await import('./demos/webhook.tsx')).createDemo(isResuming)
}

function follow(begun: Site): void {
  site = begun
  const closed = new AbortController()
  const show = (): void => {
    if (begun.state === 'closed') closed.abort()
    // The page may show the next one by now.
    if (begun !== site) return
    const { url, shareUrl, waiting } = begun
    const state = stateOf(begun)
    // Earlier errors are resolved, or the state shows them.
    update({ state, url, shareUrl, waiting, ...(state !== 'closed' && { error: '' }) })
    if (state !== 'closed' || !isOver()) return
    remember(undefined)
    freeName()
    update({ error: LANDING.over })
  }
  begun.addEventListener('statechange', show)
  for (const type of ['online', 'offline']) addEventListener(type, show, closed)
  askBeforeLeaving(begun, closed.signal)
  // Phones lock, which ends the site. Without the code, the screen goes off as ever.
  if ('wakeLock' in navigator) void import('./wake-lock.ts').catch(() => {})
  begun.addEventListener('knock', ({ visitor }) => knocked(begun, visitor))
  begun.addEventListener('error', ({ error }) => {
    if (begun !== site) return
    // The state already shows what the site waits for, or that the relay does not answer. It does answer about invitations.
    const isShown = begun.state === 'waiting' || begun.state === 'reconnecting'
    if (!isShown || faultOf(error.code, error.message) === 'invitation') {
      update({ error: sentenceOf(error.code, error.message) })
    }
  })
}

/** Without a network nobody comes, which the SDK notices only after a while. A relay on this machine needs none. */
function stateOf({ state }: Site): SiteState {
  return state === 'online' && !navigator.onLine && isForPhones(location.href) ? 'reconnecting' : state
}

/** Returns whether the time of the site has come that its owner set. */
function isOver(): boolean {
  const { endsAt = Number.POSITIVE_INFINITY } = publication.value ?? {}
  return Date.now() + TIMER_ERROR_MS >= endsAt
}

function knocked(begun: Site, visitor: KnockingVisitor): void {
  const show = (): void => {
    if (begun === site) update({ knocks: begun.knocks })
  }
  visitor.ended.addEventListener('abort', show, { once: true })
  show()
  import('./knock-notification.ts').then(({ notify }) => notify(visitor)).catch(() => {}) // The list shows it too.
}
