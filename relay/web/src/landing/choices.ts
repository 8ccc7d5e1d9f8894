// What the user chooses about who may come in, and the option `access` of `publish` that this makes.
import type { AccessOptions } from '@svc/sdk-browser'
import { LANDING } from '../texts/landing.ts'

/** The hours after which a site may close. */
export const HOURS = [1, 8, 24] as const

const HOUR_MS = 3_600_000

export interface Choices {
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
  note: LANDING.firstNote,
  isListed: false,
  isAsking: false,
  password: '',
  hours: 0,
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
export type Fault = 'password' | 'invitation' | undefined

/** @returns the field that an error of `publish` is about */
export function faultOf(code: unknown, message: string): Fault {
  if (code === 'invitation_required' || code === 'invitation_rejected') return 'invitation'
  return code === 'invalid_option' && message.startsWith('access.password') ? 'password' : undefined
}
