// @svc/relay: the server, for programs that embed it. The executable is main.ts.

export { readSettings, type Settings, SettingsError } from './config/settings.ts'
export { type Relay, startRelay } from './relay.ts'
export type { CloseOptions } from './shutdown.ts'
