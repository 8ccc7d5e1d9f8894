// The demo site of this tab, as the page shows it, and what the browser keeps of it. It stays online while its owner looks at
// other pages.
import type { KnockingVisitor, SiteState, Waiting } from '@svc/sdk-browser'
import { Store } from '../common/store.ts'
import { type Choices, type Fault, NO_CHOICES } from './choices.ts'
import type { Demo, Kind, Visit } from './demos/demo.ts'

export interface Publication {
  kind: Kind
  hasPassword: boolean
  /** When the site closes, in milliseconds since the epoch; undefined for never. */
  endsAt: number | undefined
  state: SiteState
  /** Why the site waits, and until when. */
  waiting?: Waiting | undefined
  /** When the SDK tries to reach the relay again, in milliseconds since the epoch. */
  nextAttemptAt?: number | undefined
  url: string
  /** The relay's link to the site, which waits for it while it is away. */
  shareUrl?: string | undefined
  /** Message of the last error. */
  error: string
  /** The field that the error is about. */
  fault?: Fault
  /** Of a webhook inspector, its view has the visits. */
  visitCount: number
  /** The request that came last, as this tab reads it. */
  latest?: string | undefined
  /** The newest first. */
  visits: readonly Visit[]
  View?: Demo['View'] | undefined
  clear?: Demo['clear'] | undefined
  /** The visitors who wait to be let in. Undefined when nobody has to. */
  knocks?: readonly KnockingVisitor[] | undefined
}

export const publication: Store<Publication | undefined> = new Store<Publication | undefined>(undefined)

export function update(change: Partial<Publication>): void {
  if (publication.value !== undefined) publication.set({ ...publication.value, ...change })
}

/** @returns the name that this browser keeps for a kind of site; empty for none */
function keptName(kind: Kind): string {
  return localStorage.getItem(keyOfName(kind)) ?? ''
}

/** @param name empty when it is not to be kept */
export function keepName(kind: Kind, name: string): void {
  if (name === '') localStorage.removeItem(keyOfName(kind))
  else localStorage.setItem(keyOfName(kind), name)
}

const keyOfName = (kind: Kind): string => `svc-landing-name-${kind}`

/** What the user chose last in this tab: a site that is published again does not lose its password. */
export const lastChoices: Store<Choices> = new Store({ ...NO_CHOICES, name: keptName('note') })

/** The kind of site that the user chose last in this tab. */
export const lastKind: Store<Kind> = new Store<Kind>('note')

/** A name that somebody typed stays; one that the browser kept is of its kind. */
export function chooseKind(next: Kind): void {
  const { value } = lastChoices
  if (value.name === keptName(lastKind.value)) lastChoices.set({ ...value, name: keptName(next) })
  lastKind.set(next)
}

export interface Published extends Choices {
  kind: Kind
  endsAt?: number | undefined
}

const PUBLISHED = 'svc-landing-published'

/** Keeps for this tab what a reload publishes again. */
export function remember(published: Published | undefined): void {
  if (published) sessionStorage.setItem(PUBLISHED, JSON.stringify(published))
  else sessionStorage.removeItem(PUBLISHED)
}

export function remembered(): Published | undefined {
  const was = sessionStorage.getItem(PUBLISHED)
  return was === null ? undefined : JSON.parse(was)
}
