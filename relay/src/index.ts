// Entry point of @svc/relay for programs that embed a relay. The executable is main.ts.

export { type Settings, SettingsError } from './core/config/settings.ts'
export type { CloseOptions } from './core/shutdown.ts'
export { type Relay, startRelay } from './relay.ts'
export { readSettings } from './settings.ts'
