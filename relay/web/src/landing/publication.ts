// Publishes the demo site of this tab. It stays online while its owner looks at other pages.
import type { KnockingVisitor, Site, SiteState, Waiting } from '@svc/sdk-browser'
import type { Inspector } from '@svc/sdk-browser/handlers'
import { Store } from '../common/store.ts'
import { LANDING } from '../texts/landing.ts'
import { accessOf, type Choices, endOf, type Fault, faultOf, NO_CHOICES } from './choices.ts'
import type { Demo, Kind, Visit } from './demos/demo.ts'
import { siteNames } from './demos/site-names.ts'

/** Visits that the page lists. */
const VISITS_MAX = 10
/** By how much a timer may be early by the clock. */
const TIMER_ERROR_MS = 1000

export interface Publication {
  kind: Kind
  hasPassword: boolean
  /** When the site closes, in milliseconds since the epoch; undefined for never. */
  endsAt: number | undefined
  state: SiteState
  /** Why the site waits, and until when. */
  waiting?: Waiting | undefined
  url: string
  /** The relay's link to the site, which waits for it while it is away. */
  shareUrl?: string | undefined
  /** Message of the last error. */
  error: string
  /** The field that the error is about. */
  fault?: Fault
  /** Of a webhook inspector, `recorder` has the visits. */
  visitCount: number
  /** The request that came last, as this tab reads it. */
  latest?: string | undefined
  /** The newest first. */
  visits: readonly Visit[]
  recorder?: Inspector | undefined
  /** Number of shared files. */
  fileCount: number
  /** The visitors who wait to be let in. Undefined when nobody has to. */
  knocks?: readonly KnockingVisitor[] | undefined
}

export const publication: Store<Publication | undefined> = new Store<Publication | undefined>(undefined)

let site: Site | undefined
let chosenLast: Choices = NO_CHOICES

/** What the user chose last in this tab: a site that is published again does not lose its password. */
export const lastChoices = (): Choices => chosenLast

/**
 * Kinds whose owner was warned that this relay makes their address public, and published again. The note's address need not be
 * secret.
 */
const mayBePublic = new Set<Kind>(['note'])
let writeNote: ((text: string) => void) | undefined
let addToFolder: ((files: Iterable<File>) => number) | undefined

/**
 * @param invitation for a relay that asked for one; empty for none
 * @param endsAt for a site that was online before
 */
export async function start(
  kind: Kind,
  chosen: Choices,
  invitation = '',
  endsAt: number | undefined = endOf(chosen, Date.now()),
): Promise<void> {
  const none = { url: '', error: '', visitCount: 0, visits: [], fileCount: 0 }
  chosenLast = chosen
  const choices = meant(kind, chosen)
  const { isListed, isAsking } = choices
  publication.set({
    kind,
    hasPassword: choices.password !== '',
    endsAt,
    state: 'connecting',
    ...none,
    knocks: isAsking ? [] : undefined,
  })
  try {
    await watch()
    // SDK and demo are not part of the page's first load.
    const [{ publish }, demo, names] = await Promise.all([
      import('@svc/sdk-browser'),
      loadDemo(kind, chosen.note),
      siteNames(kind),
    ])
    remember({ kind, endsAt, ...choices })
    await publish({
      relay: location.origin,
      ...names,
      fetch: kind === 'webhook' ? demo.fetch : counted(demo),
      listed: isListed,
      access: accessOf(choices, endsAt),
      invitation: invitation || undefined,
      metadata: { description: DESCRIPTION, tags: ['tab', kind] },
      // Certificate authorities publish the names in sites' own certificates.
      certificate: mayBePublic.has(kind) ? 'own' : 'shared',
      awayPage: true,
      // Another identity may have the stored name now, or this browser may have lost its identity.
      allowCanonicalFallback: true,
      onSite: follow,
    })
  } catch (error) {
    failed(kind, error)
  }
}

/** The addresses of the other two grant access, so they are never listed. Nothing that calls a webhook waits. */
function meant(kind: Kind, choices: Choices): Choices {
  const { isListed, isAsking } = choices
  return { ...choices, isListed: kind === 'note' && isListed, isAsking: kind !== 'webhook' && isAsking }
}

function failed(kind: Kind, error: unknown): void {
  // Stopping a site before it was online is not an error.
  if (isAborted(error)) return
  const isSecret = isWithoutCertificate(error) && !mayBePublic.has(kind)
  if (isSecret) mayBePublic.add(kind)
  const fault = faultOf(codeOf(error), messageOf(error))
  const text = isSecret ? LANDING.addressIsPublic : textOf(error, fault)
  update({ state: 'closed', error: text, fault })
}

function textOf(error: unknown, fault: Fault): string {
  if (fault === 'password') return LANDING.passwordRefused
  return sentenceOf(codeOf(error)) ?? messageOf(error)
}

export async function stop(): Promise<void> {
  remember(undefined)
  await site?.close()
  publication.set(undefined)
}

/** Later visitors of the note see this text. */
export function write(note: string): void {
  writeNote?.(note)
  chosenLast = { ...chosenLast, note }
  const was = sessionStorage.getItem(PUBLISHED)
  if (was !== null) remember({ ...JSON.parse(was), note })
}

export function share(files: Iterable<File>): void {
  update({ fileCount: addToFolder?.(files) ?? 0 })
}

/** After a reload, publishes the same site at the same address again. */
export function resume(): void {
  const was = sessionStorage.getItem(PUBLISHED)
  if (was === null || publication.value !== undefined) return
  const { kind, endsAt, ...choices }: Published = JSON.parse(was)
  if (endsAt !== undefined && endsAt <= Date.now()) remember(undefined)
  else start(kind, { ...NO_CHOICES, ...choices }, '', endsAt)
}

interface Published extends Choices {
  kind: Kind
  endsAt?: number | undefined
}

const PUBLISHED = 'svc-landing-published'

function remember(published: Published | undefined): void {
  if (published) sessionStorage.setItem(PUBLISHED, JSON.stringify(published))
  else sessionStorage.removeItem(PUBLISHED)
}

const DESCRIPTION = "Published from the relay's own page"

/** The relay's view of the visits: the diagram goes without it where it cannot be loaded. */
async function watch(): Promise<void> {
  isWatching ??= import('./wire.ts').then(({ watchWire }) => watchWire()).catch(() => {})
  await isWatching
}

let isWatching: Promise<void> | undefined

async function loadDemo(kind: Kind, note: string): Promise<Demo> {
  if (kind === 'note') {
    const demo = (await import('./demos/note.ts')).createDemo(note)
    writeNote = demo.write
    return demo
  }
  if (kind === 'folder') {
    const demo = (await import('./demos/folder.ts')).createDemo()
    addToFolder = demo.add
    return demo
  }
  const demo = (await import('./demos/webhook.ts')).createDemo()
  update({ recorder: demo.recorder })
  return demo
}

/** Wraps the demo's handler to list each request as a visit. */
function counted({ fetch }: Demo): Demo['fetch'] {
  return (request, info) => {
    // A request may still arrive after the site was stopped.
    const { visitCount = 0, visits = [] } = publication.value ?? {}
    const { pathname, search } = new URL(request.url)
    if (ICONS.test(pathname)) return fetch(request, info)
    const visit = { id: visitCount + 1, at: Date.now(), method: request.method, path: pathname + search }
    const list = [visit, ...visits].slice(0, VISITS_MAX)
    update({ visitCount: visit.id, visits: list, latest: requestText(request) })
    return fetch(request, info)
  }
}

/** What browsers ask for beside a page. */
const ICONS = /^\/(?:favicon\.ico|apple-touch-icon[\w-]*\.png)$/
/** Fields of a request that the diagram shows. */
const SHOWN_FIELDS = ['host', 'user-agent', 'accept-language']

function requestText({ method, url, headers }: Request): string {
  const { pathname, search } = new URL(url)
  const fields = SHOWN_FIELDS.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [`${name}: ${value}`]
  })
  return [`${method} ${pathname}${search}`, ...fields].join('\n')
}

function follow(begun: Site): void {
  site = begun
  begun.addEventListener('statechange', () => {
    const { state, url, shareUrl, waiting } = begun
    // Earlier errors are resolved, or the state shows them.
    update({ state, url, shareUrl, waiting, ...(state !== 'closed' && { error: '' }) })
    if (state === 'closed' && isOver()) {
      remember(undefined)
      update({ error: LANDING.over })
    }
  })
  begun.addEventListener('knock', ({ visitor }) => knocked(begun, visitor))
  begun.addEventListener('error', ({ error }) => {
    // The state already shows what the site waits for, or that the relay does not answer. It does answer about invitations.
    const isShown = begun.state === 'waiting' || begun.state === 'reconnecting'
    if (!isShown || faultOf(error.code, error.message) === 'invitation') {
      update({ error: sentenceOf(error.code) ?? error.message })
    }
  })
}

/** Returns whether the time of the site has come that its owner set. */
function isOver(): boolean {
  const { endsAt = Number.POSITIVE_INFINITY } = publication.value ?? {}
  return Date.now() + TIMER_ERROR_MS >= endsAt
}

function knocked(begun: Site, visitor: KnockingVisitor): void {
  const show = (): void => update({ knocks: begun.knocks })
  visitor.ended.addEventListener('abort', show, { once: true })
  show()
  import('./knock-notification.ts').then(({ notify }) => notify(visitor)).catch(() => {}) // The list shows it too.
}

function update(change: Partial<Publication>): void {
  if (publication.value !== undefined) publication.set({ ...publication.value, ...change })
}

/** What an error means for the owner of the tab. Undefined where its own message is as good. */
function sentenceOf(code: unknown): string | undefined {
  const sentences: Readonly<Record<string, string>> = LANDING.errors
  return typeof code === 'string' && Object.hasOwn(sentences, code) ? sentences[code] : undefined
}

function isAborted(error: unknown): boolean {
  return codeOf(error) === 'aborted'
}

/** Returns whether the relay serves only sites with their own certificates, which publishes their names. */
function isWithoutCertificate(error: unknown): boolean {
  return codeOf(error) === 'certificate_unavailable'
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
