// The inspector, for the SDKs that load it when a site has one.

export type { Entry } from './entry.ts'
export { Inspection } from './inspection.ts'
export { type InspectOptions, Inspector, inspect } from './inspector.ts'
export type * from './messages.ts'
