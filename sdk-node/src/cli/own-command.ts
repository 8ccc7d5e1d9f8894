// The command line that starts this `svc` again, for the background agent and system services.

import { isSea } from 'node:sea'

/** @returns the program and the arguments before those of a command; the paths are absolute */
export function ownCommand(): string[] {
  const { execPath, execArgv, argv } = process
  // A single executable contains its script and V8 flags.
  return isSea() ? [execPath] : [execPath, ...execArgv, argv[1]!]
}
