// A finding is one line of `svc-relay check`: what a start would do about one feature, or what it lacks.

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
