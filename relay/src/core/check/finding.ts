// A finding is one line of `svc-relay check`: what a start would do about one feature, or what it lacks.

import type { Settings } from '../config/settings.ts'

/** An `error` makes a start fail; with a `warning` the relay starts without a part of what the operator asked for. */
export type Status = 'ok' | 'off' | 'warning' | 'error'

export interface Finding {
  feature: string
  status: Status
  /** One sentence, without secrets. */
  message: string
}

/** A finding of one feature, before the report adds the feature's name. */
export type Found = Omit<Finding, 'feature'>

export const ok = (message: string): Found => ({ status: 'ok', message })
export const off = (message: string): Found => ({ status: 'off', message })
export const warning = (message: string): Found => ({ status: 'warning', message })
export const error = (message: string): Found => ({ status: 'error', message })

export interface CheckOptions {
  /**
   * Whether this is for a restart: then the running relay may hold the ports, since it ends first.
   * @default false
   */
  isRestart?: boolean
  /** Where external DNS providers find their credentials. @default none */
  env?: Record<string, string | undefined>
}

/** Says what a start with these settings would do about one feature. @throws SettingsError as a start does */
export type Check = (settings: Settings, options: CheckOptions) => Found[] | Promise<Found[]>
