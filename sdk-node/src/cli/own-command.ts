// The command line with which this `svc` is started again: by the agent in the background, and by services of the system.

import { isSea } from 'node:sea'

/** @returns the program and the arguments before those of a command; the paths are absolute */
export function ownCommand(): string[] {
  const { execPath, execArgv, argv } = process
  // an executable has its script and its V8 flags inside
  return isSea() ? [execPath] : [execPath, ...execArgv, argv[1]!]
}
