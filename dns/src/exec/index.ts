// A user's command that changes DNS records.

export { callCommand, printableLine } from './call-command.ts'
