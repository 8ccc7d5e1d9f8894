// What the user chooses about a site: its name, who may come in, and the option `access` of `publish` that this makes.
import { normalizeName } from '@svc/protocol'
import type { AccessOptions } from '@svc/sdk-browser'
import { LANDING } from '../texts/landing.ts'
import type { Kind } from './demos/demo.ts'

/** The hours after which a site may close. */
export const HOURS = [1, 8, 24] as const

const HOUR_MS = 3_600_000

export interface Choices {
  /** The site's name; empty for one by chance. */
  name: string
  /** This browser keeps the key that owns the name. */
  isKept: boolean
  /** What the note says. */
  note: string
  isListed: boolean
  /** Each visitor waits until the user lets it in. */
  isAsking: boolean
  /** Empty: visitors need none. */
  password: string
  /** The hours after which the site closes; 0: it does not by itself. */
  hours: number
}

export const NO_CHOICES: Choices = {
  name: '',
  isKept: true,
  note: LANDING.firstNote,
  isListed: false,
  isAsking: false,
  password: '',
  hours: 0,
}

/** @returns whether people visit such a site: programs call the others, which cannot wait to be let in */
export const hasPeople = (kind: Kind): boolean => kind !== 'webhook' && kind !== 'tools'

/** @returns undefined for what is no name; empty for none */
export function wantedName(text: string): string | undefined {
  return text.trim() === '' ? '' : normalizeName(text)
}

/** @returns when the site closes, in milliseconds since the epoch; undefined for never */
export function endOf({ hours }: Choices, now: number): number | undefined {
  return hours === 0 ? undefined : now + hours * HOUR_MS
}

/** @returns undefined when everybody may come in at any time */
export function accessOf(
  { isAsking, password }: Choices,
  endsAt: number | undefined,
): AccessOptions | undefined {
  const access = {
    ...(password !== '' && { password }),
    ...(isAsking && { knock: true }),
    ...(endsAt !== undefined && { expires: new Date(endsAt) }),
  }
  return Object.keys(access).length > 0 ? access : undefined
}

/** A field of the form, and what is wrong with it. */
export type Fault = 'name' | 'files' | 'password' | 'invitation' | undefined

const FAULTS: Readonly<Record<string, Fault>> = {
  invitation_required: 'invitation',
  invitation_rejected: 'invitation',
  hostname_conflict: 'name',
  name_in_other_tab: 'name',
  files_gone: 'files',
}

/** @returns the field that an error of `publish` is about */
export function faultOf(code: unknown, message: string): Fault {
  if (code === 'invalid_option' && message.startsWith('access.password')) return 'password'
  return typeof code === 'string' && Object.hasOwn(FAULTS, code) ? FAULTS[code] : undefined
}
